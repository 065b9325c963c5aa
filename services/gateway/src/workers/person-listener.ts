import { personProvisioned } from '@countersign/contracts/commercial-gateway';
import { ack, messagingTransaction, type Queryable } from '@countersign/messaging';
import type { Context } from '../context.ts';
import { receivePerson } from '../provisioning/receive-person.ts';
import { gatewayQueues } from '../queues.ts';
import type { Tx } from '../store/database.ts';

/** At half a minute between deliveries, for more than three days. */
const deliveriesMax = 10_000;

/** Receives the states of people whom identity providers manage, and ends access in the same transaction. */
export function startPersonListener(context: Context): { subscribed: Promise<void> } {
  return context.bus.consume<typeof personProvisioned, Queryable & { prisma: Tx }>({
    queue: gatewayQueues(context.config.bus.exchange).people,
    events: [personProvisioned],
    transaction: messagingTransaction(context.transaction),
    maxDeliveries: deliveriesMax,
    handler: async ({ data }, { prisma: tx }) => {
      await receivePerson(tx, context, data);
      return ack;
    },
  });
}
