import { emitBasicEvent } from '@countersign/contracts/commercial-gateway';
import { emitEvent } from '@countersign/contracts/gateway';
import { answerAsCaller, headersOf } from '../../basic/answer-as-caller.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const emitBasicEventRoute = (context: Pick<Context, 'asCaller'>) =>
  handleWorkspace(emitBasicEvent)(async ({ body: { dedupe_key: dedupeKey, ...event }, caller, req, idempotency }) => {
    const client = context.asCaller(caller.delegation, { emitEvent });
    const headers = headersOf({ req, idempotency }, caller);
    const params = { id: caller.workspaceId };
    const body = { ...event, dedupeKey };
    const { id, ...emitted } = (await answerAsCaller(() => client.emitEvent({ params, body, headers }))).body;
    const { type, deliveries, emittedBy: emitted_by, emittedAt: emitted_at } = emitted;
    return { event_id: id, type, dedupe_key: emitted.dedupeKey, deliveries, emitted_by, emitted_at };
  });
