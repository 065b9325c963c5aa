import { instantOf } from '@countersign/contracts';
import { rotateWebhookSecret } from '@countersign/contracts/gateway';
import { liveSecrets, secretOverlapMs } from '@countersign/delivery';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { rotateSecret } from '../../notifications/change-subscriptions.ts';

export const rotateWebhookSecretRoute = (context: Context) =>
  handleWorkspace(rotateWebhookSecret)(async ({ params: { subscriptionId }, caller, requestId }) => {
    const rotated = await rotateSecret(context, subscriptionId, { caller, requestId });
    const now = context.now();
    const [secret = null] = liveSecrets(context.config.webhooks.secretKey, rotated, now);
    return { secret, previousUntil: instantOf(new Date(now.getTime() + secretOverlapMs)) };
  });
