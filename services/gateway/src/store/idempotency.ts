import { AppError } from '@countersign/contracts';
import { AnswerKeys, answersKeptMs, type AnswerClaim } from '@countersign/idempotency';
import { queryableOf } from '@countersign/messaging';
import { inFlight } from '@countersign/service-kit';
import type { Tx } from './database.ts';

const keys = new AnswerKeys((scope) => ({ scope }));

type Claim = AnswerClaim & { now: Date };

/**
 * Runs `act` at most once per key. The key is stored in the same transaction, so neither an effect without its key nor
 * a key without its effect survives a crash. An equal request waits for the first one and gets its answer. Throws
 * IDEMPOTENCY_KEY_REUSED.
 */
export async function actOnce(
  tx: Tx,
  { now, ...claim }: Claim,
  act: () => Promise<string>,
): Promise<{ answer: string; replayed: boolean }> {
  // A claim is committed only together with its answer, so a running claim is never visible.
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
      throw new AppError('IDEMPOTENCY_KEY_REUSED', 'Idempotency-Key was used for a different request. Use a new key');
    case 'in-flight':
      throw inFlight();
    default:
      return verdict satisfies never;
  }
}

/** A stored answer must have a status. It is not used, since the route decides the status. */
const statusOfAny = 200;

/** Removes answers that are no longer replayed. */
export function forgetAnswers(tx: Tx, now: Date): Promise<void> {
  return keys.forget(queryableOf(tx), now);
}
