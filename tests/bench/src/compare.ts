import type { Profiler } from 'node:inspector';
import type { Bench } from './bench.ts';
import { checkLedger, type LedgerCheck } from './check-ledger.ts';
import { closingAfter } from './closing.ts';
import type { Comparison } from './comparison.ts';
import type { RunsCheck } from './check-runs.ts';
import type { Member } from './member.ts';
import type { Opening } from './opening.ts';
import type { Pace } from './options.ts';
import { ask } from './processes.ts';
import { summariseProfile, type ProfileSummary } from './profile.ts';
import { ratiosOf } from './ratios.ts';
import { takeTurns } from './take-turns.ts';
import { warmUp } from './warm-up.ts';

export type Compared = {
  openings: Map<string, Opening[]>;
  /** The profiles of members whose ratios missed their goal, or of all subjects with `--profile`. */
  profiles: Map<string, ProfileSummary>;
  checks: LedgerCheck[];
  runChecks: RunsCheck[];
};

type How = { wanted: ReadonlySet<string>; pace: Pace; profiles: boolean };

/**
 * Opens one comparison several times, each time with new processes, since two processes of the same code may differ by
 * a fifth. Measures the wanted members group by group, and checks the sealed receipts and the runs.
 */
export async function compare(bench: Bench, comparison: Comparison, how: How): Promise<Compared> {
  const compared = nothingCompared();
  const openings = comparison.isOpenedOnce === true ? 1 : how.pace.openings;
  for (let opening = 0; opening < openings; opening += 1) await compareOnce(compared, { bench, comparison, how });
  return compared;
}

type Once = { bench: Bench; comparison: Comparison; how: How };

async function compareOnce(compared: Compared, { bench, comparison, how }: Once): Promise<void> {
  await closingAfter(async (closing) => {
    const { members, databases, checkRuns } = await comparison.open(bench, closing);
    for (const group of comparison.groups) {
      const names = group.filter((name) => how.wanted.has(name));
      await measureGroup(compared, namedMembers(members, names), how);
    }
    if (checkRuns !== undefined) compared.runChecks.push(await checkRuns());
    for (const database of databases) compared.checks.push(await checkLedger(database, bench.settings.signingKey));
  });
}

export function nothingCompared(): Compared {
  return { openings: new Map(), profiles: new Map(), checks: [], runChecks: [] };
}

function namedMembers(members: Record<string, Member>, names: readonly string[]): Map<string, Member> {
  const named = names.flatMap((name): [string, Member][] => {
    const member = members[name];
    return member === undefined ? [] : [[name, member]];
  });
  if (named.length !== names.length) throw new Error(`Not all of ${names.join(', ')} were opened`);
  return new Map(named);
}

async function measureGroup(
  compared: Compared,
  members: ReadonlyMap<string, Member>,
  { pace, profiles }: How,
): Promise<void> {
  const warmUps = new Map<string, Opening['warmUp']>();
  for (const [name, member] of members) {
    await member.tryOnce();
    if (member.isWhole === true) continue;
    warmUps.set(name, await warmUp(() => member.measure(pace.warmUpWindowSeconds), pace.warmUpWindowsMax));
  }
  const isWhole = [...members.values()].some((member) => member.isWhole === true);
  const rounds = isWhole ? 1 : pace.rounds;
  const windows = await takeTurns(members, rounds, (member) => member.measure(pace.windowSeconds));
  for (const [name, list] of windows) {
    const opening = { windows: list, warmUp: warmUps.get(name) ?? null };
    compared.openings.set(name, [...(compared.openings.get(name) ?? []), opening]);
  }
  const measured = new Map([...compared.openings].filter(([name]) => members.has(name)));
  for (const { subject, isReached } of ratiosOf(measured)) {
    const member = members.get(subject);
    const isWanted = isReached === false || profiles;
    if (!isWanted || member === undefined || member.servers.length === 0 || compared.profiles.has(subject)) continue;
    compared.profiles.set(subject, await profileOf(member, pace));
  }
}

/** The profile of the first process of a member. The process is warm, and under the load that was just measured. */
async function profileOf({ servers: [server], measure }: Member, { profileSeconds }: Pace): Promise<ProfileSummary> {
  if (server === undefined) throw new Error('The member has no process to profile');
  const [profile] = await Promise.all([
    ask<Profiler.Profile>(server, { seconds: profileSeconds }),
    measure(profileSeconds),
  ]);
  return summariseProfile(profile);
}
