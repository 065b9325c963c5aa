import { createSubscription } from '@countersign/contracts/gateway';
import { liveSecrets } from '@countersign/delivery';
import type { Context } from '../context.ts';
import { handleWorkspace } from '../handle.ts';
import { subscribe } from '../notifications/change-subscriptions.ts';
import { subscriptionView } from '../notifications/views.ts';

export const createSubscriptionRoute = (context: Context) =>
  handleWorkspace(createSubscription)(async ({ body: { channel, target, eventTypes }, caller, requestId }) => {
    const stored = await subscribe(context, { channel, target, eventTypes }, { caller, requestId });
    const [newest = null] = liveSecrets(context.config.webhooks.secretKey, stored, context.now());
    return { ...subscriptionView(stored), secret: channel === 'webhook' ? newest : null };
  });
