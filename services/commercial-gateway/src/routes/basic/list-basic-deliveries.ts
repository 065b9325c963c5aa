import { listBasicDeliveries } from '@countersign/contracts/commercial-gateway';
import { listDeliveries } from '@countersign/contracts/gateway';
import { answerAsCaller, headersOf } from '../../basic/answer-as-caller.ts';
import { deliveryView } from '../../basic/notification-views.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const listBasicDeliveriesRoute = (context: Pick<Context, 'asCaller'>) =>
  handleWorkspace(listBasicDeliveries)(
    async ({ query: { subscription_id: subscriptionId, ...page }, caller, req, idempotency }) => {
      const client = context.asCaller(caller.delegation, { listDeliveries });
      const headers = headersOf({ req, idempotency }, caller);
      const params = { id: caller.workspaceId };
      const query = { ...page, ...(subscriptionId !== undefined && { subscriptionId }) };
      const { body } = await answerAsCaller(() => client.listDeliveries({ params, query, headers }));
      return { data: body.data.map(deliveryView), next_cursor: body.nextCursor };
    },
  );
