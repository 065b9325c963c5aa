import type { EventOf } from '@countersign/contracts';
import { ack, messagingTransaction } from '@countersign/messaging';
import type { Context } from '../context.ts';
import { controlPlaneQueues } from '../queues.ts';
import { hintOf, toldEvents, type Concerned } from '../realtime/hint-of.ts';
import type { Tx } from '../store/database.ts';
import { noteMembers, recordHint, type HintScope } from '../store/hints.ts';
import { listWorkspaceIdsOf } from '../store/orgs.ts';

/** A change of an hour ago is read anyway: at half a minute between deliveries, for an hour. */
const deliveriesMax = 120;

/** Hears what changes elsewhere, and tells it to the pages. No inbox is needed: what is told twice is read twice. */
export function startHintListener(context: Context): { subscribed: Promise<void> } {
  return context.bus.consume({
    queue: controlPlaneQueues(context.config.bus.exchange).hints,
    events: toldEvents,
    transaction: messagingTransaction(context.transaction),
    acts: 'outside-transaction',
    maxDeliveries: deliveriesMax,
    handler: async (event) => {
      await context.transaction((tx) => tell(tx, event, context.now()));
      return ack;
    },
  });
}

async function tell(tx: Tx, event: EventOf<(typeof toldEvents)[number]>, now: Date): Promise<void> {
  const { concerns, ...hint } = hintOf(event);
  if (event.type === 'workspace.members.changed.v1') {
    const { workspaceId, version } = event.data;
    if (!(await noteMembers(tx, workspaceId, version))) return;
  }
  for (const scope of await scopesOf(tx, concerns)) await recordHint(tx, scope, hint, now);
}

/**
 * The scopes in one order, so that two transactions for the workspaces of one organisation wait for each other and not
 * for ever.
 */
async function scopesOf(tx: Tx, concerns: Concerned): Promise<HintScope[]> {
  if (concerns === null) return [];
  return 'scope' in concerns ? [concerns.scope] : (await listWorkspaceIdsOf(tx, concerns.orgId)).sort();
}
