import { AppError } from '@countersign/contracts';
import type { IdempotencyClaim } from '@countersign/service-kit';
import type { Tx } from './database.ts';

const keptMs = 24 * 3_600_000;

type Claim = IdempotencyClaim & {
  /** Names operation and caller: a key of one must not answer for another. */
  scope: string;
  now: Date;
};

/**
 * Acts at most once for a key. The key is kept in the transaction that acts, so there is neither an effect without its key nor a key
 * without its effect, whatever dies in between; an equal request waits for the first and gets its answer. Throws
 * IDEMPOTENCY_KEY_REUSED.
 */
export async function actOnce(
  tx: Tx,
  { scope, key, fingerprint, now }: Claim,
  act: () => Promise<string>,
): Promise<{ answer: string; replayed: boolean }> {
  await tx.idempotencyKey.deleteMany({ where: { scope, key, createdAt: { lt: ago(now, keptMs) } } });
  const claimed = await tx.idempotencyKey.createMany({
    data: { scope, key, fingerprint, createdAt: now },
    skipDuplicates: true,
  });
  if (claimed.count === 0) return { answer: await earlierAnswer(tx, { scope, key, fingerprint }), replayed: true };
  const answer = await act();
  await tx.idempotencyKey.updateMany({ where: { scope, key }, data: { answer } });
  return { answer, replayed: false };
}

async function earlierAnswer(tx: Tx, { scope, key, fingerprint }: Omit<Claim, 'now'>): Promise<string> {
  const stored = await tx.idempotencyKey.findUnique({ where: { scope_key: { scope, key } } });
  if (stored !== null && stored.fingerprint !== fingerprint)
    throw new AppError('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used for a different request');
  // The key was there a statement ago, and it is written with its answer: it has just been forgotten.
  if (stored?.answer === null || stored === null)
    throw new AppError('IDEMPOTENCY_IN_FLIGHT', 'This Idempotency-Key has just expired; send the request again');
  return stored.answer;
}

/** Removes answers that are not given again any more. */
export async function forgetAnswers(tx: Tx, now: Date): Promise<void> {
  await tx.idempotencyKey.deleteMany({ where: { createdAt: { lt: ago(now, keptMs) } } });
}

function ago(now: Date, ms: number): Date {
  return new Date(now.getTime() - ms);
}
