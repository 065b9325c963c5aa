import { isAppError, type ErrorCode } from '@countersign/contracts';
import { fenceSet } from '@countersign/contracts/governance-kernel';
import { ack, messagingTransaction, reject } from '@countersign/messaging';
import type { Context } from '../context.ts';
import { kernelQueues } from '../queues.ts';
import { setFence } from '../fences/set-fence.ts';

/** A stop is not given up while the database is away: at half a minute between deliveries, for more than three days. */
const deliveriesMax = 10_000;

/** A later command is in force, which is what epochs are for; or the end of this one has passed. */
const outdated: ReadonlySet<ErrorCode> = new Set(['ILLEGAL_TRANSITION', 'END_PASSED']);

/**
 * Hears the commands that others publish. A publisher on the exchange may stop and open as much as a holder of the
 * service key. No inbox is needed: the epoch of its scope says whether a command is new, whatever comes twice, late or
 * in another order.
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
        if (!isAppError(error) || !outdated.has(error.code)) throw error;
        context.log.warn('fence.outdated', { event_id: id, scope: data.scope, epoch: data.epoch, code: error.code });
        return ack;
      }
    },
  });
}
