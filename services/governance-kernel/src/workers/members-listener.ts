import { membersChanged } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { kernelQueues } from '../queues.ts';
import { ack, messagingTransaction } from '@countersign/messaging';
import { applyMembers } from '../relations/apply-members.ts';

/** A person who left is not given up on while the database is away: at half a minute between deliveries, for more than three days. */
const deliveriesMax = 10_000;

/**
 * Hears who is in a workspace, and writes it down as relations. No inbox is needed: the version of a list says whether it is new,
 * whatever comes twice, late or in another order.
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
