import * as messaging from '@countersign/messaging';
import type { Transaction } from './database.ts';

/** Our transactions as messaging wants them, for its own tables. */
export function messagingTransaction(transaction: Transaction): messaging.Transaction {
  return (work) => transaction((tx) => work(messaging.queryableOf(tx)));
}
