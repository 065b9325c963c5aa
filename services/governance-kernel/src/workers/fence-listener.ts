import { isAppError, type ErrorCode } from '@countersign/contracts';
import { fenceSet } from '@countersign/contracts/governance-kernel';
import { ack, messagingTransaction, reject } from '@countersign/messaging';
import type { Context } from '../context.ts';
import { kernelQueues } from '../queues.ts';
import { setFence } from '../controls/fences/set-fence.ts';

/**
 * At two deliveries a minute, this lasts more than three days, so no stop is lost while the database is unavailable.
 */
const deliveriesMax = 10_000;

/** The errors of outdated commands: a later command is in force, or the end of this command has passed. */
const outdated: ReadonlySet<ErrorCode> = new Set(['ILLEGAL_TRANSITION', 'END_PASSED']);

/**
 * Receives commands that other services publish. A publisher on the exchange has the rights of the service key. No
 * inbox is needed: the epoch of the scope shows whether a command is new, even if commands are repeated, late or out of
 * order.
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
