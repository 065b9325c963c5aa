import type { OutgoingEvent } from './new-event.ts';
import type { OutboxRelay } from './outbox-relay.ts';
import { recordEvents } from './outbox.ts';
import { queryableOf, type PrismaTransaction, type Transaction, type Queryable } from './queryable.ts';

/** A service's own way to run `work` in a transaction of Prisma's. */
type Transacting<Tx> = <Result>(work: (tx: Tx) => Promise<Result>) => Promise<Result>;

const telling = new WeakSet<object>();

/** Events of a change, in the transaction of the change: published if, and only if, it commits. */
export function recordEventsIn(tx: PrismaTransaction, events: readonly OutgoingEvent[]): Promise<void> {
  telling.add(tx);
  return recordEvents(queryableOf(tx), events);
}

/** The same transactions; one that has events wakes the relay once it has committed. Most have none, and each pass of the relay is two transactions more. */
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

/** A service's transactions as messaging wants them, for its own tables; `prisma` is the transaction that a handler's store functions take. */
export function messagingTransaction<Tx extends PrismaTransaction>(
  transaction: Transacting<Tx>,
): Transaction<Queryable & { prisma: Tx }> {
  return (work) => transaction((tx) => work({ ...queryableOf(tx), prisma: tx }));
}
