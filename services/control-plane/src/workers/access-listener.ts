import { userAccessEnded } from '@countersign/contracts/gateway';
import { ack, messagingTransaction, type Queryable } from '@countersign/messaging';
import type { Context } from '../context.ts';
import { controlPlaneQueues } from '../queues.ts';
import { endAccess } from '../sessions/end-access.ts';
import type { Tx } from '../store/database.ts';

/** At two deliveries a minute, a failing message is repeated for more than three days. */
const deliveriesMax = 10_000;

/** Ends the sessions of people whose access ended at the gateway. */
export function startAccessListener(context: Context): { subscribed: Promise<void> } {
  return context.bus.consume<typeof userAccessEnded, Queryable & { prisma: Tx }>({
    queue: controlPlaneQueues(context.config.bus.exchange).access,
    events: [userAccessEnded],
    transaction: messagingTransaction(context.transaction),
    maxDeliveries: deliveriesMax,
    handler: async ({ data: { userId, endedAt } }, { prisma: tx }) => {
      await endAccess(tx, context, { userId, endedAt: new Date(endedAt) });
      return ack;
    },
  });
}
