import { AppError } from '@countersign/contracts';
import type { LedgerBatch } from './batch.ts';

/**
 * State that a kernel caches in memory and reads before a batch, without a lock. `Used` is an attempt with the values
 * that it read, and the batch compares them with its rows.
 */
export type CachedState<Query, Value, Used> = {
  /** The subject of the error message when the state keeps changing. */
  readonly name: string;
  /** The value in memory. It may be outdated. */
  current(query: Query): Value;
  /** Whether the batch contains the value that the attempt used. */
  isCurrent(batch: LedgerBatch, used: Used): boolean;
  /** Reads the value again. The rows of the batch are newer than the value in memory. */
  reload(used: Used, batch: LedgerBatch): Promise<void> | void;
};

/** A cached state, as a batch compares it. */
export type ComparedState<Used> = Omit<CachedState<never, unknown, Used>, 'current'>;

/** An attempt used an outdated value, and nothing was sealed. */
export type Outdated = {
  readonly kind: 'outdated';
  readonly state: { readonly name: string };
  reload(): Promise<void> | void;
};

/** The first state whose value is outdated. `null` when the attempt used only current values. */
export function findOutdated<Used>(
  states: readonly ComparedState<Used>[],
  batch: LedgerBatch,
  used: Used,
): Outdated | null {
  for (const state of states) {
    if (!state.isCurrent(batch, used)) return { kind: 'outdated', state, reload: () => state.reload(used, batch) };
  }
  return null;
}

/**
 * The limit of attempts. On a new kernel each of the five states may be outdated once. More changes within one request
 * indicate an attack or a fault.
 */
const attemptsMax = 10;

/**
 * Repeats an attempt until it used only current values. `attempt` receives the states that were reloaded so far. Throws
 * RECEIPT_STORE_UNAVAILABLE when they keep changing.
 */
export async function withCurrentState<Done extends { kind: string }>(
  attempt: (reloaded: readonly Outdated['state'][]) => Promise<Done | Outdated>,
): Promise<Exclude<Done, Outdated>> {
  let reloaded: readonly Outdated['state'][] = none;
  for (let attempts = 1; ; attempts += 1) {
    const done = await attempt(reloaded);
    if (!isOutdated(done)) return done as Exclude<Done, Outdated>; // by its kind
    if (attempts === attemptsMax)
      throw new AppError(
        'RECEIPT_STORE_UNAVAILABLE',
        `${done.state.name} changed too often during the request, so nothing was executed. Try again`,
      );
    await done.reload();
    reloaded = [...reloaded, done.state];
  }
}

const none: readonly never[] = [];

function isOutdated(done: { kind: string }): done is Outdated {
  return done.kind === 'outdated';
}
