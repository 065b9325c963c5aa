import { isAppError } from '@countersign/contracts';
import { fenceSet } from '@countersign/contracts/governance-kernel';
import { ack, messagingTransaction, reject } from '@countersign/messaging';
import type { Context } from '../context.ts';
import { kernelQueues } from '../queues.ts';
import { setFence } from '../fences/set-fence.ts';

/** A stop is not given up while the database is away: at half a minute between deliveries, for more than three days. */
const deliveriesMax = 10_000;

/**
 * Hears the commands that others publish. Whoever may publish on the exchange may stop and open what the service key may. No inbox is
 * needed: the epoch of its scope says whether a command is new, whatever comes twice, late or in another order.
 */
export function startFenceListener(context: Context): { subscribed: Promise<void> } {
  return context.bus.consume({
    queue: kernelQueues(context.config.bus.exchange).fences,
    events: [fenceSet],
    transaction: messagingTransaction(context.transaction),
    acts: 'outside-transaction',
    maxDeliveries: deliveriesMax,
    handler: async ({ id, data }) => {
      try {
        await setFence(context, data);
        return ack;
      } catch (error) {
        if (isAppError(error) && error.code === 'INVALID_REQUEST') return reject(error.message);
        if (!isAppError(error) || error.code !== 'ILLEGAL_TRANSITION') throw error;
        // A later command stands: that is what epochs are for.
        context.log.warn('fence.outdated', { event_id: id, scope: data.scope, epoch: data.epoch });
        return ack;
      }
    },
  });
}
