import type { BenchDatabase } from './bench-database.ts';
import type { Bench } from './bench.ts';
import type { RunsCheck } from './check-runs.ts';
import type { Closing } from './closing.ts';
import type { Member } from './member.ts';

export type OpenComparison = {
  members: Record<string, Member>;
  /** Held against what was answered when the comparison is over. */
  databases: BenchDatabase[];
  /** Throws when a run was lost, or a part of one done twice. */
  checkRuns?: () => Promise<RunsCheck>;
};

/** The members of one comparison run at the same time, on services and databases of its own, and take turns. */
export type Comparison = {
  groups: readonly (readonly string[])[];
  open(bench: Bench, closing: Closing): Promise<OpenComparison>;
};
