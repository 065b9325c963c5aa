import { endSubscription } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { unsubscribe } from '../../notifications/change-subscriptions.ts';

export const endSubscriptionRoute = (context: Context) =>
  handleWorkspace(endSubscription)(async ({ params: { subscriptionId }, caller, requestId }) => {
    await unsubscribe(context, subscriptionId, { caller, requestId });
    return { ok: true as const };
  });
