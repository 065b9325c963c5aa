import type { Shape } from '@countersign/contracts';
import { putBasicSubscription } from '@countersign/contracts/commercial-gateway';
import { createSubscription } from '@countersign/contracts/gateway';
import { answerAsCaller, headersOf } from '../../basic/answer-as-caller.ts';
import { subscriptionView } from '../../basic/notification-views.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const putBasicSubscriptionRoute = (context: Pick<Context, 'asCaller'>) =>
  handleWorkspace(putBasicSubscription)(async ({ body: wanted, caller, req, idempotency }) => {
    const client = context.asCaller(caller.delegation, { createSubscription });
    const headers = headersOf({ req, idempotency }, caller);
    const params = { id: caller.workspaceId };
    const body = bodyOf(wanted);
    const { secret, ...stored } = (await answerAsCaller(() => client.createSubscription({ params, body, headers })))
      .body;
    return { ...subscriptionView(stored), secret };
  });

type Wanted = typeof putBasicSubscription extends { body?: Shape<infer Body> } ? Body : never;

function bodyOf(wanted: Wanted) {
  if (wanted.channel === 'webhook') {
    const { event_types: eventTypes, ...subscription } = wanted;
    return { ...subscription, eventTypes };
  }
  const { event_types: eventTypes, ...subscription } = wanted;
  return { ...subscription, eventTypes };
}
