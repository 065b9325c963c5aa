import { redriveBasicDelivery } from '@countersign/contracts/commercial-gateway';
import { redriveDelivery } from '@countersign/contracts/gateway';
import { answerAsCaller, headersOf } from '../../basic/answer-as-caller.ts';
import { deliveryView } from '../../basic/notification-views.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const redriveBasicDeliveryRoute = (context: Pick<Context, 'asCaller'>) =>
  handleWorkspace(redriveBasicDelivery)(async ({ params: { delivery_id: deliveryId }, caller, req, idempotency }) => {
    const client = context.asCaller(caller.delegation, { redriveDelivery });
    const headers = headersOf({ req, idempotency }, caller);
    const params = { id: caller.workspaceId, deliveryId };
    const { body } = await answerAsCaller(() => client.redriveDelivery({ params, headers }));
    return deliveryView(body);
  });
