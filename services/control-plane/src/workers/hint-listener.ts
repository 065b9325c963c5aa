import type { EventOf } from '@countersign/contracts';
import { ack, messagingTransaction } from '@countersign/messaging';
import type { Context } from '../context.ts';
import { controlPlaneQueues } from '../queues.ts';
import { hintOf, toldEvents, type Concerned } from '../realtime/hint-of.ts';
import type { Tx } from '../store/database.ts';
import { noteMembers, recordHint, type HintScope } from '../store/hints.ts';
import { listWorkspaceIdsOf } from '../store/orgs.ts';

/** At two deliveries a minute, a failing message is repeated for an hour. Pages read older changes without a hint. */
const deliveriesMax = 120;

/**
 * Receives changes of other services and notifies pages. No inbox is needed, since a repeated hint only causes a
 * second read.
 */
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

/** The scopes in one order, so that two transactions for workspaces of one organisation cannot deadlock. */
async function scopesOf(tx: Tx, concerns: Concerned): Promise<HintScope[]> {
  if (concerns === null) return [];
  return 'scope' in concerns ? [concerns.scope] : (await listWorkspaceIdsOf(tx, concerns.orgId)).sort();
}
