import { WorkspaceId } from '@countersign/contracts';
import { disableWebhooksOf } from '@countersign/delivery';
import { queryableOf } from '@countersign/messaging';
import type { Context } from '../context.ts';
import { publishSubscriptionDisabled } from '../events.ts';
import type { Tx } from '../store/database.ts';

/**
 * Disables the webhooks of a former owner: the remaining members may not know where they lead. Resolves to how many.
 */
export async function silenceWebhooksOf(
  tx: Tx,
  context: Context,
  { workspaceId, userId }: { workspaceId: string; userId: string },
): Promise<number> {
  const reason = 'who asked for it is no owner any more: subscribe again to bring it back';
  const wanted = { owner: workspaceId, createdBy: userId, reason, now: context.now() };
  const silenced = await disableWebhooksOf(queryableOf(tx), wanted);
  for (const { id: subscriptionId, channel } of silenced) {
    const data = { workspaceId: WorkspaceId.parse(workspaceId), subscriptionId, channel };
    await publishSubscriptionDisabled(tx, context, data);
  }
  return silenced.length;
}
