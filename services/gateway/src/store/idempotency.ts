import type { IdempotencyStore, IdempotencyVerdict } from '@countersign/service-kit';
import { z } from 'zod';
import type { Transaction, Tx } from './database.ts';

const keptMs = 24 * 3_600_000;
/** A request that runs for longer lost its process; its key is free again. */
const runningMsMax = 5 * 60_000;

const Answer = z.object({ status: z.number(), headers: z.record(z.string(), z.string()), text: z.string() });

/** The database decides which of two equal claims runs. */
export function idempotencyStore(transaction: Transaction, now: () => Date): IdempotencyStore {
  return {
    begin: (scope, key, fingerprint) => transaction((tx) => begin(tx, { scope, key, fingerprint, createdAt: now() })),
    complete: (scope, key, answer) =>
      transaction(async (tx) => {
        await tx.idempotencyKey.updateMany({ where: { scope, key }, data: { answer: JSON.stringify(answer) } });
      }),
    abandon: (scope, key) =>
      transaction(async (tx) => {
        await tx.idempotencyKey.deleteMany({ where: { scope, key, answer: null } });
      }),
  };
}

type Claim = { scope: string; key: string; fingerprint: string; createdAt: Date };

async function begin(tx: Tx, { scope, key, fingerprint, createdAt }: Claim): Promise<IdempotencyVerdict> {
  const lost = { answer: null, createdAt: { lt: ago(createdAt, runningMsMax) } };
  await tx.idempotencyKey.deleteMany({
    where: { scope, key, OR: [{ createdAt: { lt: ago(createdAt, keptMs) } }, lost] },
  });
  const claimed = await tx.idempotencyKey.createMany({
    data: { scope, key, fingerprint, createdAt },
    skipDuplicates: true,
  });
  if (claimed.count === 1) return { kind: 'run' };
  const stored = await tx.idempotencyKey.findUnique({ where: { scope_key: { scope, key } } });
  if (stored === null) return { kind: 'in-flight' }; // given up in this moment: the caller comes back
  if (stored.fingerprint !== fingerprint) return { kind: 'mismatch' };
  return stored.answer === null
    ? { kind: 'in-flight' }
    : { kind: 'replay', answer: Answer.parse(JSON.parse(stored.answer)) };
}

/** Removes answers that are not given again any more. */
export async function forgetAnswers(tx: Tx, now: Date): Promise<void> {
  await tx.idempotencyKey.deleteMany({ where: { createdAt: { lt: ago(now, keptMs) } } });
}

function ago(now: Date, ms: number): Date {
  return new Date(now.getTime() - ms);
}
