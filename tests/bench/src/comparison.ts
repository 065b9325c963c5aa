import type { BenchDatabase } from './bench-database.ts';
import type { Bench } from './bench.ts';
import type { RunsCheck } from './check-runs.ts';
import type { Closing } from './closing.ts';
import type { Member } from './member.ts';

export type OpenComparison = {
  members: Record<string, Member>;
  /** The databases whose receipts are compared with the answers at the end. */
  databases: BenchDatabase[];
  /** Throws when a run was lost, or a part of a run was done twice. */
  checkRuns?: () => Promise<RunsCheck>;
};

/** A comparison has its own services and databases, which stay open together. The members of one group take turns. */
export type Comparison = {
  groups: readonly (readonly string[])[];
  /** Present when opening it takes minutes, or when nothing differs between two processes. */
  isOpenedOnce?: true;
  open(bench: Bench, closing: Closing): Promise<OpenComparison>;
};
