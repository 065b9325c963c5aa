import { identityUpdated } from '@countersign/contracts/commercial-gateway';
import { ack, messagingTransaction, type Queryable } from '@countersign/messaging';
import type { Context } from '../context.ts';
import { receiveSignInRule } from '../provisioning/receive-sign-in-rule.ts';
import { gatewayQueues } from '../queues.ts';
import type { Tx } from '../store/database.ts';

/** At two deliveries a minute, a failing message is repeated for more than three days. */
const deliveriesMax = 10_000;

/** Stores how people of each organisation's domains sign in. */
export function startSignInRuleListener(context: Context): { subscribed: Promise<void> } {
  return context.bus.consume<typeof identityUpdated, Queryable & { prisma: Tx }>({
    queue: gatewayQueues(context.config.bus.exchange).signInRules,
    events: [identityUpdated],
    transaction: messagingTransaction(context.transaction),
    maxDeliveries: deliveriesMax,
    handler: async ({ data }, { prisma: tx }) => {
      await receiveSignInRule(tx, context, data);
      return ack;
    },
  });
}
