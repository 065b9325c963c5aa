import type { EventOf } from '@countersign/contracts';
import { incidentMoved } from '@countersign/contracts/control-plane';
import { ack, messagingTransaction, type Queryable } from '@countersign/messaging';
import type { Context } from '../context.ts';
import { announceIncident } from '../notifications/announce-event.ts';
import { gatewayQueues } from '../queues.ts';
import type { Tx } from '../store/database.ts';

/** At two deliveries a minute, a failing message is repeated for more than three days. */
const deliveriesMax = 10_000;

/** Notifies the subscriptions of a workspace once about each incident that the control plane opens there. */
export function startIncidentListener(context: Context): { subscribed: Promise<void> } {
  return context.bus.consume<typeof incidentMoved, Queryable & { prisma: Tx }>({
    queue: gatewayQueues(context.config.bus.exchange).incidents,
    events: [incidentMoved],
    transaction: messagingTransaction(context.transaction),
    maxDeliveries: deliveriesMax,
    handler: async ({ data }, { prisma: tx }) => {
      if (isOpened(data)) await announceIncident(tx, data, () => context.databaseNow(tx));
      return ack;
    },
  });
}

/** Whether an incident is new, or was reopened. A repeated sighting of an open incident was announced before. */
function isOpened({ from, to }: EventOf<typeof incidentMoved>['data']): boolean {
  return to === 'open' && from !== 'open';
}
