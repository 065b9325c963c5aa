import { listBasicSubscriptions } from '@countersign/contracts/commercial-gateway';
import { listSubscriptions } from '@countersign/contracts/gateway';
import { answerAsCaller, headersOf } from '../../basic/answer-as-caller.ts';
import { subscriptionView } from '../../basic/notification-views.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const listBasicSubscriptionsRoute = (context: Pick<Context, 'asCaller'>) =>
  handleWorkspace(listBasicSubscriptions)(async ({ caller, req, idempotency }) => {
    const client = context.asCaller(caller.delegation, { listSubscriptions });
    const headers = headersOf({ req, idempotency }, caller);
    const params = { id: caller.workspaceId };
    const { body } = await answerAsCaller(() => client.listSubscriptions({ params, headers }));
    return { data: body.data.map(subscriptionView), next_cursor: body.nextCursor };
  });
