import type { DatabaseClock } from '@countersign/database';
import { AnswerKeys, answersKeptMs } from '@countersign/idempotency';
import { queryableOf } from '@countersign/messaging';
import { ulidOf } from '@countersign/receipts';
import type { IdempotencyStore, StoredAnswer } from '@countersign/service-kit';
import { z } from 'zod';
import type { AnswerStore } from '../decision/kept-answers.ts';
import type { IdempotencyKeyModel } from '../generated/prisma/models.ts';
import type { Reader, Transaction, Tx } from './database.ts';

const keys = new AnswerKeys(columnsOf);

type IdempotencyOptions = {
  /** The clock of the database. A kernel whose own clock is wrong could free a key on which other kernels rely. */
  databaseNow: DatabaseClock;
  /** A request that runs for longer than this was lost with its process, so its key may be claimed again. */
  runningMsMax: number;
};

/**
 * Answers of mutating routes by Idempotency-Key. Routes that seal store their key in the ledger's transaction instead.
 * For calls that the kernel performs, the answer is stored without a separate claim.
 */
export function idempotencyStore(
  { reader, transaction }: { reader: Reader; transaction: Transaction },
  { databaseNow, runningMsMax }: IdempotencyOptions,
): IdempotencyStore & AnswerStore {
  return {
    begin: (scope, key, fingerprint) =>
      transaction(async (tx) => {
        const claim = { scope, key, fingerprint, now: await databaseNow(tx), runningMsMax };
        return await keys.begin(queryableOf(tx), claim);
      }),
    complete: (scope, key, answer) =>
      transaction(async (tx) => void (await keys.complete(queryableOf(tx), { scope, key }, answer))),
    abandon: (scope, key) => transaction((tx) => keys.free(queryableOf(tx), { scope, key }, { state: 'running' })),
    // Only reads, so that a lookup never displaces an answer that is being stored.
    find: async (scope, { key, fingerprint }) => {
      const kept = { created_at: { gt: ago(await databaseNow(reader), answersKeptMs) } };
      const where = { ...placeOf(scope, key), fingerprint, state: 'done', ...kept };
      const row = await reader.idempotencyKey.findFirst({ where });
      return row === null ? null : answerOf(row);
    },
    keep: (scope, { key, fingerprint }, answer) =>
      transaction(async (tx) => {
        const place = placeOf(scope, key);
        const kept = { fingerprint, ...done(answer), created_at: await databaseNow(tx) };
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

function ago(now: Date, ms: number): Date {
  return new Date(now.getTime() - ms);
}

/** The scope contains route and caller, so tenant and principal stay empty. Keys of the ledger never have that form. */
function columnsOf(scope: string) {
  return { tenant_id: '', principal_id: '', route: scope };
}

function placeOf(scope: string, key: string) {
  return { ...columnsOf(scope), key };
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

/** Removes answers after 24 hours, when they are no longer replayed, including answers of the ledger's decisions. */
export async function forgetAnswers(tx: Tx, now: Date): Promise<void> {
  const where = { created_at: { lte: ago(now, answersKeptMs) } };
  await tx.idempotencyKey.deleteMany({ where });
}
