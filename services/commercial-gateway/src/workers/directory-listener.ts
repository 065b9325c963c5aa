import { orgCreated, orgWorkspaceAdded } from '@countersign/contracts/control-plane';
import { ack, messagingTransaction, type Queryable } from '@countersign/messaging';
import type { Context } from '../context.ts';
import { commercialQueues } from '../queues.ts';
import type { Tx } from '../store/database.ts';
import { putOrg, putOrgWorkspace } from '../store/orgs.ts';

/** Deliveries are half a minute apart, so this limit covers a database outage of more than three days. */
const deliveriesMax = 10_000;

/** Copies organisations and their workspaces from the events of the control plane. */
export function startDirectoryListener({ bus, config, transaction }: Context): { subscribed: Promise<void> } {
  return bus.consume<typeof orgCreated | typeof orgWorkspaceAdded, Queryable & { prisma: Tx }>({
    queue: commercialQueues(config.bus.exchange).directory,
    events: [orgCreated, orgWorkspaceAdded],
    transaction: messagingTransaction(transaction),
    maxDeliveries: deliveriesMax,
    handler: async (event, { prisma: tx }) => {
      if (event.type === 'org.created.v1') await putOrg(tx, event.data);
      else await putOrgWorkspace(tx, event.data);
      return ack;
    },
  });
}
