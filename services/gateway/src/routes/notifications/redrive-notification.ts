import { redriveNotification } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { redrive } from '../../notifications/change-subscriptions.ts';

export const redriveNotificationRoute = (context: Context) =>
  handleWorkspace(redriveNotification)(async ({ params: { subscriptionId, notificationId }, caller, requestId }) => {
    await redrive(context, { subscriptionId, notificationId }, { caller, requestId });
    return { ok: true as const };
  });
