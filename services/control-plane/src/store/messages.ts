import * as messaging from '@countersign/messaging';
import type { Transaction, Tx } from './database.ts';

/** Events of a change, in the transaction of the change: published if, and only if, it commits. */
export function recordEvents(tx: Tx, events: readonly messaging.OutgoingEvent[]): Promise<void> {
  return messaging.recordEvents(messaging.queryableOf(tx), events);
}

/** Our transactions as messaging wants them, for its own tables. */
export function messagingTransaction(transaction: Transaction): messaging.Transaction {
  return (work) => transaction((tx) => work(messaging.queryableOf(tx)));
}
