import { WorkspaceId } from '@countersign/contracts';
import { disableWebhooksOf } from '@countersign/delivery';
import { queryableOf } from '@countersign/messaging';
import type { Context } from '../context.ts';
import { publishSubscriptionDisabled } from '../events.ts';
import type { Tx } from '../store/database.ts';

/**
 * Disables the webhooks of a former owner, since the remaining members may not know their receivers. Resolves to the
 * number of webhooks.
 */
export async function silenceWebhooksOf(
  tx: Tx,
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow'>,
  { workspaceId, userId }: { workspaceId: string; userId: string },
): Promise<number> {
  const reason = 'the person who created it is no longer an owner. Subscribe again to restore it';
  const wanted = { owner: workspaceId, createdBy: userId, reason, now: context.now() };
  const silenced = await disableWebhooksOf(queryableOf(tx), wanted);
  for (const { id: subscriptionId, channel } of silenced) {
    const data = { workspaceId: WorkspaceId.parse(workspaceId), subscriptionId, channel };
    await publishSubscriptionDisabled(tx, context, data);
  }
  return silenced.length;
}
