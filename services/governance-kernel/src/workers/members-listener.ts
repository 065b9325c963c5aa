import { membersChanged } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { kernelQueues } from '../queues.ts';
import { ack, messagingTransaction } from '@countersign/messaging';
import { applyMembers } from '../controls/relations/apply-members.ts';

/**
 * At two deliveries a minute, this lasts more than three days, so no departure is lost while the database is
 * unavailable.
 */
const deliveriesMax = 10_000;

/**
 * Receives lists of members, and writes them as relations. No inbox is needed: the version of a list shows whether the
 * list is new, even if lists are repeated, late or out of order.
 */
export function startMembersListener(context: Context): { subscribed: Promise<void> } {
  return context.bus.consume({
    queue: kernelQueues(context.config.bus.exchange).members,
    events: [membersChanged],
    transaction: messagingTransaction(context.transaction),
    acts: 'outside-transaction',
    maxDeliveries: deliveriesMax,
    handler: async ({ id, data }) => {
      const { workspaceId, version } = data;
      if (!(await applyMembers(context, data)))
        context.log.info('members.outdated', { event_id: id, workspaceId, version });
      return ack;
    },
  });
}
