import type { OutgoingEvent } from './new-event.ts';
import type { OutboxRelay } from './outbox-relay.ts';
import { recordEvents } from './outbox.ts';
import { queryableOf, type PrismaTransaction, type Transaction, type Queryable } from './queryable.ts';

/** Runs `work` in a Prisma transaction of the service. */
type Transacting<Tx> = <Result>(work: (tx: Tx) => Promise<Result>) => Promise<Result>;

const telling = new WeakSet<object>();

/** Records events of a change in its transaction. They are published if and only if it commits. */
export function recordEventsIn(tx: PrismaTransaction, events: readonly OutgoingEvent[]): Promise<void> {
  telling.add(tx);
  return recordEvents(queryableOf(tx), events);
}

/**
 * Wraps a transaction function: it wakes the relay after a commit, but only if the transaction recorded events. A
 * needless wake-up would cost two transactions.
 */
export function wakingTransaction<Tx extends object>(
  transaction: Transacting<Tx>,
  relay: Pick<OutboxRelay, 'poke'>,
): Transacting<Tx> {
  return async (work) => {
    const { result, isTelling } = await transaction(async (tx) => ({
      result: await work(tx),
      isTelling: telling.has(tx),
    }));
    if (isTelling) relay.poke();
    return result;
  };
}

/**
 * Adapts the transactions of a service to messaging. `prisma` is the transaction for the store functions of a handler.
 */
export function messagingTransaction<Tx extends PrismaTransaction>(
  transaction: Transacting<Tx>,
): Transaction<Queryable & { prisma: Tx }> {
  return (work) => transaction((tx) => work({ ...queryableOf(tx), prisma: tx }));
}
