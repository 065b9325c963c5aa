import * as messaging from '@countersign/messaging';
import type { Transaction, Tx } from './database.ts';

const telling = new WeakSet<Tx>();

/** Events of a change, in the transaction of the change: published if, and only if, it commits. */
export function recordEvents(tx: Tx, events: readonly messaging.OutgoingEvent[]): Promise<void> {
  telling.add(tx);
  return messaging.recordEvents(messaging.queryableOf(tx), events);
}

/** Whether a transaction has events that are to be published once it has committed. */
export function tellsEvents(tx: Tx): boolean {
  return telling.has(tx);
}

/** Our transactions as messaging wants them, for its own tables. */
export function messagingTransaction(transaction: Transaction): messaging.Transaction {
  return (work) => transaction((tx) => work(messaging.queryableOf(tx)));
}
