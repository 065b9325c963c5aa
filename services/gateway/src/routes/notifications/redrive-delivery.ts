import { redriveDelivery } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { redrive } from '../../notifications/change-subscriptions.ts';
import { notificationView } from '../../notifications/views.ts';

export const redriveDeliveryRoute = (context: Context) =>
  handleWorkspace(redriveDelivery)(async ({ params: { deliveryId: notificationId }, caller, requestId }) =>
    notificationView(await redrive(context, { subscriptionId: null, notificationId }, { caller, requestId })),
  );
