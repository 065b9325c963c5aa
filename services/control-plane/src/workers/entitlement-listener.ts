import { entitlementChanged } from '@countersign/contracts/commercial-gateway';
import { ack, messagingTransaction, type Queryable } from '@countersign/messaging';
import type { Context } from '../context.ts';
import { controlPlaneQueues } from '../queues.ts';
import type { Tx } from '../store/database.ts';
import { putEntitlement } from '../store/entitlements.ts';

/** At two deliveries a minute, a failing message is repeated for more than three days. */
const deliveriesMax = 10_000;

/** Stores the last published limits of each organisation. */
export function startEntitlementListener(context: Context): { subscribed: Promise<void> } {
  return context.bus.consume<typeof entitlementChanged, Queryable & { prisma: Tx }>({
    queue: controlPlaneQueues(context.config.bus.exchange).entitlements,
    events: [entitlementChanged],
    transaction: messagingTransaction(context.transaction),
    maxDeliveries: deliveriesMax,
    handler: async (event, { prisma: tx }) => {
      await putEntitlement(tx, event);
      return ack;
    },
  });
}
