import { AppError } from '@countersign/contracts';
import { AnswerKeys, answersKeptMs, type AnswerClaim } from '@countersign/idempotency';
import { queryableOf } from '@countersign/messaging';
import { inFlight } from '@countersign/service-kit';
import type { Tx } from './database.ts';

const keys = new AnswerKeys((scope) => ({ scope }));

type Claim = AnswerClaim & { now: Date };

/**
 * Acts at most once for a key. The key is kept in the transaction that acts, so there is neither an effect without its
 * key nor a key without its effect, even after a crash. An equal request waits for the first and gets its answer.
 * Throws IDEMPOTENCY_KEY_REUSED.
 */
export async function actOnce(
  tx: Tx,
  { now, ...claim }: Claim,
  act: () => Promise<string>,
): Promise<{ answer: string; replayed: boolean }> {
  // No claim is committed before its answer, so none that runs is ever found.
  const verdict = await keys.begin(queryableOf(tx), { ...claim, now, runningMsMax: answersKeptMs });
  switch (verdict.kind) {
    case 'run': {
      const answer = await act();
      await keys.complete(queryableOf(tx), claim, { status: statusOfAny, headers: {}, text: answer });
      return { answer, replayed: false };
    }
    case 'replay':
      return { answer: verdict.answer.text, replayed: true };
    case 'mismatch':
      throw new AppError('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used for a different request');
    case 'in-flight':
      throw inFlight();
    default:
      return verdict satisfies never;
  }
}

/** The status of an answer is that of its route. */
const statusOfAny = 200;

/** Removes answers that are not given again any more. */
export function forgetAnswers(tx: Tx, now: Date): Promise<void> {
  return keys.forget(queryableOf(tx), now);
}
