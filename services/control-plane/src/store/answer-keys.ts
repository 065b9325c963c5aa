import { AnswerKeys, type AnswerClaim } from '@countersign/idempotency';
import { queryableOf } from '@countersign/messaging';
import type { IdempotencyVerdict, StoredAnswer } from '@countersign/service-kit';
import type { Tx } from './database.ts';

/**
 * Longer than a handler waits for all siblings. After this time, another request may take over the claim. The first
 * request can then no longer commit.
 */
const runningMsMax = 120_000;

const keys = new AnswerKeys((scope) => ({ scope }));

/** A claim with its start time, which distinguishes it from a later claim of the same key. */
export type BegunClaim = AnswerClaim & { begunAt: Date };

/** `running`: nothing was created yet. `done`: the object and its answer are committed. */
type State = 'running' | 'done';

export function beginClaim(tx: Tx, { begunAt: now, ...claim }: BegunClaim): Promise<IdempotencyVerdict> {
  return keys.begin(queryableOf(tx), { ...claim, now, runningMsMax });
}

/** Stores the answer of a claim that must be in this state. Returns `false` when the claim was lost. */
export function keepAnswer(
  tx: Tx,
  { begunAt, ...claim }: BegunClaim,
  { answer, state }: { answer: StoredAnswer; state: State },
): Promise<boolean> {
  return keys.complete(queryableOf(tx), claim, answer, { begunAt, state });
}

export function freeClaim(tx: Tx, { begunAt, ...claim }: BegunClaim, state: State): Promise<void> {
  return keys.free(queryableOf(tx), claim, { begunAt, state });
}

export function forgetAnswers(tx: Tx, now: Date): Promise<void> {
  return keys.forget(queryableOf(tx), now);
}
