import { ulidOf } from '@countersign/receipts';
import type { IdempotencyStore, IdempotencyVerdict, StoredAnswer } from '@countersign/service-kit';
import { z } from 'zod';
import { answersKeptMs } from '../boundary/answers.ts';
import type { AnswerStore } from '../boundary/kept-answers.ts';
import type { IdempotencyKeyModel } from '../generated/prisma/models.ts';
import type { Reader, Transaction, Tx } from './database.ts';

type IdempotencyOptions = {
  clock: () => Date;
  /** A request that runs longer than this was lost with its process: its key may be claimed again. */
  runningMsMax: number;
};

/**
 * Answers of mutating routes by Idempotency-Key. Routes that seal keep their key in the ledger's transaction instead; of calls that the
 * kernel performs, the answer is found and kept without a claim of its own.
 */
export function idempotencyStore(
  { reader, transaction }: { reader: Reader; transaction: Transaction },
  { clock, runningMsMax }: IdempotencyOptions,
): IdempotencyStore & AnswerStore {
  return {
    begin: (scope, key, fingerprint) =>
      transaction((tx) => begin(tx, { place: placeOf(scope, key), fingerprint, now: clock(), runningMsMax })),
    complete: (scope, key, answer) =>
      transaction(async (tx) => {
        await tx.idempotencyKey.updateMany({ where: placeOf(scope, key), data: done(answer) });
      }),
    abandon: (scope, key) =>
      transaction(async (tx) => {
        await tx.idempotencyKey.deleteMany({ where: { ...placeOf(scope, key), state: 'running' } });
      }),
    // Reads and nothing else, so that looking never takes the place of an answer that is being kept.
    find: async (scope, { key, fingerprint }) => {
      const kept = { created_at: { gt: ago(clock(), answersKeptMs) } };
      const where = { ...placeOf(scope, key), fingerprint, state: 'done', ...kept };
      const row = await reader.idempotencyKey.findFirst({ where });
      return row === null ? null : answerOf(row);
    },
    keep: (scope, { key, fingerprint }, answer) =>
      transaction(async (tx) => {
        const place = placeOf(scope, key);
        const kept = { fingerprint, ...done(answer), created_at: clock() };
        const where = { tenant_id_principal_id_route_key: place };
        await tx.idempotencyKey.upsert({ where, create: { ...place, ...kept }, update: kept });
      }),
    free: ({ caller: { tenant, principal }, route, claim: { key } }, decisionId) =>
      transaction(async (tx) => {
        const claimed = { tenant_id: tenant, principal_id: principal, route, key, ulid: ulidOf(decisionId) };
        await tx.idempotencyKey.deleteMany({ where: claimed });
      }),
  };
}

type Claim = { place: ReturnType<typeof placeOf>; fingerprint: string; now: Date; runningMsMax: number };

/** The database decides which of two equal claims runs. */
async function begin(tx: Tx, { place, fingerprint, now, runningMsMax }: Claim): Promise<IdempotencyVerdict> {
  const lost = { state: 'running', created_at: { lt: ago(now, runningMsMax) } };
  const old = { created_at: { lt: ago(now, answersKeptMs) } };
  await tx.idempotencyKey.deleteMany({ where: { ...place, OR: [old, lost] } });
  const claim = { ...place, fingerprint, state: 'running', created_at: now };
  const { count } = await tx.idempotencyKey.createMany({ data: claim, skipDuplicates: true });
  if (count === 1) return { kind: 'run' };
  const row = await tx.idempotencyKey.findUnique({ where: { tenant_id_principal_id_route_key: place } });
  if (row === null) return { kind: 'in-flight' }; // abandoned in this moment; the caller comes back
  if (row.fingerprint !== fingerprint) return { kind: 'mismatch' };
  return row.state === 'running' ? { kind: 'in-flight' } : { kind: 'replay', answer: answerOf(row) };
}

function ago(now: Date, ms: number): Date {
  return new Date(now.getTime() - ms);
}

/** The scope names route and caller, so tenant and principal stay empty: no key of the ledger's is like that. */
function placeOf(route: string, key: string) {
  return { tenant_id: '', principal_id: '', route, key };
}

function done({ status, text, headers }: StoredAnswer) {
  return { state: 'done', status, answer: text, headers: { ...headers } };
}

const Stored = z.object({
  status: z.int(),
  answer: z.string(),
  headers: z.record(z.string(), z.string()).nullable(),
});

function answerOf(row: IdempotencyKeyModel): StoredAnswer {
  const { status, answer, headers } = Stored.parse(row);
  return { status, headers: headers ?? {}, text: answer };
}

/** Removes answers that are not given again any more. */
export async function forgetAnswers(tx: Tx, now: Date): Promise<void> {
  const where = { created_at: { lte: ago(now, answersKeptMs) } };
  await tx.idempotencyKey.deleteMany({ where });
}
