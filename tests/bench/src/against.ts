import { prepareBench, openKernel, withBuild, type Bench } from './bench.ts';
import { buildVersion } from './built-version.ts';
import { checkLedger } from './check-ledger.ts';
import { closingAfter, type Closing } from './closing.ts';
import { chatting, evaluating, toolCalling } from './governed-member.ts';
import type { Measured } from './measured.ts';
import { medianOf } from './median.ts';
import type { Member } from './member.ts';
import type { Pace } from './options.ts';
import type { Running } from './processes.ts';
import { changeOf, type Change } from './paired-change.ts';
import { takeTurns } from './take-turns.ts';
import { warmUp } from './warm-up.ts';

/** The kinds of load under which two versions are compared. */
const loads = {
  evaluate: (bench, database, kernel) => evaluating(bench, database, [kernel]),
  chat: chatting,
  mcp: (bench, database, kernel) => toolCalling(bench, database, kernel, { connections: 16 }),
} as const satisfies Record<string, Loading>;

type Loading = (bench: Bench, database: Bench['seed'], kernel: Running) => Member;

/** More processes than the comparison with floors has, since a change of a few percent must be visible. */
const pairsOf = ({ openings }: Pace) => openings * 2;

export type Compared = { load: string; cpu: Change | null; rate: Change };

/**
 * Compares the kernel of this build with that of a commit. Each pair has two new processes, which take turns under the
 * same load.
 */
export async function compareAgainst(
  commit: string,
  { pace, amqpUrl, isWanted }: { pace: Pace; amqpUrl: string; isWanted: (load: string) => boolean },
): Promise<Compared[]> {
  return await closingAfter(async (closing) => {
    const build = await buildVersion(closing, commit);
    const bench = await prepareBench(closing, { amqpUrl, queuedRuns: pace.queuedRuns });
    const versions = { before: await withBuild(bench, closing, build), after: bench };
    const compared: Compared[] = [];
    for (const [load, open] of Object.entries(loads).filter(([load]) => isWanted(load))) {
      process.stderr.write(`Measuring ${load} in ${pairsOf(pace)} pairs of processes\n`);
      compared.push({ load, ...(await comparePairs(versions, open, pace)) });
    }
    return compared;
  });
}

type Versions = { before: Bench; after: Bench };

async function comparePairs(versions: Versions, open: Loading, pace: Pace): Promise<Omit<Compared, 'load'>> {
  const pairs: { before: Measured[]; after: Measured[] }[] = [];
  for (let pair = 0; pair < pairsOf(pace); pair += 1)
    pairs.push(await closingAfter((inner) => onePair(versions, open, { pace, inner })));
  const median = (windows: Measured[], of: (window: Measured) => number) => medianOf(windows.map(of));
  const between = (of: (window: Measured) => number) =>
    changeOf(pairs.map(({ before, after }) => median(after, of) / median(before, of)));
  const hasCpu = pairs.every(({ before, after }) => [...before, ...after].every(({ cpuMicros }) => cpuMicros !== null));
  return {
    cpu: hasCpu ? between(({ cpuMicros }) => cpuMicros ?? 0) : null,
    rate: between(({ perSecond }) => perSecond),
  };
}

async function onePair(versions: Versions, open: Loading, { pace, inner }: { pace: Pace; inner: Closing }) {
  const members = new Map<keyof Versions, Member>();
  const databases: Bench['seed'][] = [];
  for (const version of ['before', 'after'] as const) {
    const bench = versions[version];
    const database = await bench.seed.copy(inner);
    databases.push(database);
    const member = open(bench, database, await openKernel(bench, inner, database));
    await member.tryOnce();
    await warmUp(() => member.measure(pace.warmUpWindowSeconds), pace.warmUpWindowsMax);
    members.set(version, member);
  }
  const windows = await takeTurns(members, pace.rounds * 2, (member) => member.measure(pace.windowSeconds));
  for (const database of databases) await checkLedger(database, versions.after.settings.signingKey);
  return { before: windows.get('before') ?? [], after: windows.get('after') ?? [] };
}
