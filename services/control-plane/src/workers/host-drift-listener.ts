import { kernelHostDrift } from '@countersign/contracts/governance-kernel';
import { ack, messagingTransaction } from '@countersign/messaging';
import type { Context } from '../context.ts';
import { controlPlaneQueues } from '../queues.ts';
import { reportHostDrift } from '../watching/report-host-drift.ts';

/**
 * At two deliveries a minute, a failing message is repeated for more than three days. No incident is lost while the
 * database is unavailable for less than this time.
 */
const deliveriesMax = 10_000;

/**
 * Opens an incident for each imported recorder chain that shows drift. No inbox is needed, since the same sighting
 * counts once.
 */
export function startHostDriftListener(context: Context): { subscribed: Promise<void> } {
  return context.bus.consume({
    queue: controlPlaneQueues(context.config.bus.exchange).hostDrift,
    events: [kernelHostDrift],
    transaction: messagingTransaction(context.transaction),
    acts: 'outside-transaction',
    maxDeliveries: deliveriesMax,
    handler: async ({ data }) => {
      await reportHostDrift(context, data);
      return ack;
    },
  });
}
