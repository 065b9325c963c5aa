import { createSubscription } from '@countersign/contracts/gateway';
import { liveSecrets } from '@countersign/delivery';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { subscribe } from '../../notifications/change-subscriptions.ts';
import { subscriptionView } from '../../notifications/views.ts';

export const createSubscriptionRoute = (context: Context) =>
  handleWorkspace(createSubscription)(
    async ({ body: { channel, target, eventTypes, filter = null, status = 'active' }, caller, requestId }) => {
      const wanted = { channel, target, eventTypes, filter, status };
      const { subscription, hasNewSecret } = await subscribe(context, wanted, { caller, requestId });
      const [newest = null] = liveSecrets(context.config.webhooks.secretKey, subscription, context.now());
      return { ...subscriptionView(subscription), secret: channel === 'webhook' && hasNewSecret ? newest : null };
    },
  );
