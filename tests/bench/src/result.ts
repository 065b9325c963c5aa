import type { LedgerCheck } from './check-ledger.ts';
import type { RunsCheck } from './check-runs.ts';
import type { Machine } from './machine.ts';
import type { Pace } from './options.ts';
import type { ProfileSummary } from './profile.ts';
import type { Ratio } from './ratios.ts';
import { boundBy, type MemberReport } from './report.ts';

type Deps = {
  machine: Machine;
  seconds: number;
  pace: Pace;
  members: ReadonlyMap<string, MemberReport>;
  ratios: readonly Ratio[];
  profiles: ReadonlyMap<string, ProfileSummary>;
  checks: readonly LedgerCheck[];
  runChecks: readonly RunsCheck[];
};

/** The results of a run as JSON. A missed goal is reported and does not fail the command. */
export function resultOf({ machine, seconds, pace, members, ratios, profiles, checks, runChecks }: Deps) {
  return {
    machine,
    seconds,
    pace,
    ratios: Object.fromEntries(ratios.map(({ name, value }) => [name, value === null ? null : rounded(value)])),
    goals: Object.fromEntries(
      ratios.map(({ name, subject, goal, range, isUnstable, isReached }) => [
        name,
        {
          goal: goal?.value ?? null,
          bound: goal?.bound ?? null,
          reached: isReached,
          spread: range?.map(rounded) ?? null,
          unstable: isUnstable,
          bound_by: boundBy(members.get(subject)),
          profile: isReached === false ? (profiles.get(subject) ?? null) : null,
        },
      ]),
    ),
    members: Object.fromEntries(members),
    ledgers: checks,
    runs: runChecks,
  };
}

function rounded(value: number): number {
  return Number(value.toFixed(3));
}
