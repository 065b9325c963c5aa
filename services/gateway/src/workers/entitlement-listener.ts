import { entitlementChanged } from '@countersign/contracts/commercial-gateway';
import { orgWorkspaceAdded } from '@countersign/contracts/control-plane';
import { ack, messagingTransaction, type Queryable } from '@countersign/messaging';
import type { Context } from '../context.ts';
import { gatewayQueues } from '../queues.ts';
import type { Tx } from '../store/database.ts';
import { putEntitlement, putOrgWorkspace } from '../store/entitlements.ts';
import { markPeopleDue } from '../store/provisioned-people.ts';

/** At two deliveries a minute, a failing message is repeated for more than three days. */
const deliveriesMax = 10_000;

/** Stores the last published limits of each organisation, and the workspaces that it owns. */
export function startEntitlementListener(context: Context): { subscribed: Promise<void> } {
  return context.bus.consume<typeof entitlementChanged | typeof orgWorkspaceAdded, Queryable & { prisma: Tx }>({
    queue: gatewayQueues(context.config.bus.exchange).entitlements,
    events: [entitlementChanged, orgWorkspaceAdded],
    transaction: messagingTransaction(context.transaction),
    maxDeliveries: deliveriesMax,
    handler: async (event, { prisma: tx }) => {
      if (event.type === 'org.workspace-added.v1') await putOrgWorkspace(tx, event.data);
      else if (await putEntitlement(tx, event)) await markPeopleDue(tx, event.data.org_id, context.now());
      return ack;
    },
  });
}
