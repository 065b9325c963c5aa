import type { DatabaseClock } from '@countersign/database';
import { AnswerKeys } from '@countersign/idempotency';
import { queryableOf } from '@countersign/messaging';
import type { IdempotencyStore } from '@countersign/service-kit';
import type { Transaction, Tx } from './database.ts';

/** A request is considered abandoned after this time. A checkout waits for the payment provider for less time. */
const runningMsMax = 120_000;

const keys = new AnswerKeys((scope) => ({ scope }));

/** Stores answers by Idempotency-Key. It uses the clock of the database, which all replicas share. */
export function answerStore(transaction: Transaction, databaseNow: DatabaseClock): IdempotencyStore {
  return {
    begin: (scope, key, fingerprint) =>
      transaction(async (tx) => {
        const now = await databaseNow(tx);
        return await keys.begin(queryableOf(tx), { scope, key, fingerprint, now, runningMsMax });
      }),
    complete: (scope, key, answer) =>
      transaction(async (tx) => void (await keys.complete(queryableOf(tx), { scope, key }, answer))),
    abandon: (scope, key) => transaction((tx) => keys.free(queryableOf(tx), { scope, key }, { state: 'running' })),
  };
}

export function forgetAnswers(tx: Tx, now: Date): Promise<void> {
  return keys.forget(queryableOf(tx), now);
}
