import { AppError } from '@countersign/contracts';
import type { IdempotencyClaim, IdempotencyStore, StoredAnswer } from '@countersign/service-kit';

export type OnceParts = { store: IdempotencyStore; scope: string; claim: IdempotencyClaim };
export type Once<Answer> = { answer: Answer; replayed: boolean };

/**
 * Runs `work` at most once for a key and keeps its answer when it succeeded. A model that is asked twice is paid twice and says
 * two things. Anything but a success frees the key, so that the caller may try again.
 */
export async function answerOnce(
  { store, scope, claim }: OnceParts,
  work: () => Promise<StoredAnswer>,
): Promise<Once<StoredAnswer>> {
  const verdict = await store.begin(scope, claim.key, claim.fingerprint);
  if (verdict.kind === 'replay') return { answer: verdict.answer, replayed: true };
  if (verdict.kind === 'mismatch')
    throw new AppError('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used for a different request');
  if (verdict.kind === 'in-flight') throw inFlight();
  const answer = await work().catch(async (error: unknown) => {
    await store.abandon(scope, claim.key);
    throw error;
  });
  if (answer.status === 200) await store.complete(scope, claim.key, answer);
  else await store.abandon(scope, claim.key);
  return { answer, replayed: false };
}

export function inFlight(): AppError {
  return new AppError('IDEMPOTENCY_IN_FLIGHT', 'The first request with this Idempotency-Key is still running', {
    headers: { 'retry-after': '1' },
  });
}
