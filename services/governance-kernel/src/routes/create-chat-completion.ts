import type { ServerResponse } from 'node:http';
import { AppError, SessionId, type ErrorEnvelope } from '@countersign/contracts';
import { createChatCompletion, type ChatCompletionRequest } from '@countersign/contracts/governance-kernel';
import { takenOver, type StoredAnswer } from '@countersign/service-kit';
import { completeChat } from '../chat/complete-chat.ts';
import { completeOnce, type KeyedChatParts } from '../chat/complete-once.ts';
import { openAiStream } from '../chat/relay-stream.ts';
import { handleTenant } from '../handle.ts';
import { approvalGrantHeader, defaultSession, sessionHeader } from '../mcp/call-settings.ts';

type ChatRouteParts = Omit<KeyedChatParts, 'models'> & {
  /** Null: no model server is configured. */
  models: KeyedChatParts['models'] | null;
};

/** The OpenAI-compatible boundary. Whole answers honour Idempotency-Key; streams cannot be replayed and refuse it. */
export const createChatCompletionRoute = ({ models, ...kernel }: ChatRouteParts) => {
  const parts = models === null ? null : { ...kernel, models };
  return handleTenant(createChatCompletion, { idempotency: 'handler', renderError: openAiError })(
    async (input): Promise<typeof takenOver> => {
      const { body, rawBody, caller, req, res, signal, traceparent, log, requestId, idempotency: claim } = input;
      if (parts === null) throw new AppError('UPSTREAM_NOT_CONFIGURED', 'No model server is configured');
      if (rawBody === null) throw new AppError('INVALID_REQUEST', 'A body is required');
      const session = sessionHeader(req.headers) ?? userSession(body.user) ?? defaultSession(caller);
      const approvalGrant = approvalGrantHeader(req.headers);
      const asked = { request: body, body: rawBody, form: openAiStream };
      const exchange = { caller, session, ...asked, approvalGrant, traceparent, log, requestId };
      if (claim !== null) {
        refuseStream(body);
        sendWhole(res, await completeOnce(parts, { exchange, claim, res }));
        return takenOver;
      }
      const completed = await completeChat(parts, { ...exchange, signal, idempotency: undefined }, res);
      if (completed.kind !== 'performed') throw new Error('Without a key nothing is replayed');
      if (completed.result !== null) sendWhole(res, completed.result);
      return takenOver;
    },
  );
};

function refuseStream({ stream }: ChatCompletionRequest): void {
  if (stream !== true) return;
  throw new AppError('INVALID_REQUEST', 'A stream cannot be replayed: send no Idempotency-Key, or stream: false', {
    param: 'Idempotency-Key',
  });
}

/** OpenAI's `user` is free text: what cannot name a session does not. */
function userSession(user: string | undefined): SessionId | null {
  const parsed = SessionId.safeParse(user);
  return parsed.success ? parsed.data : null;
}

/** An upstream's status is its own: no contract lists what a model server may answer. */
function sendWhole(res: ServerResponse, { status, text, headers }: StoredAnswer): void {
  const length = String(Buffer.byteLength(text));
  res.writeHead(status, { ...headers, 'content-type': 'application/json; charset=utf-8', 'content-length': length });
  res.end(text);
}

/** OpenAI clients match on lower-case codes; the two refusals of the boundary have the names that its documents give them. */
function openAiError(envelope: ErrorEnvelope): ErrorEnvelope {
  const code = { POLICY_DENIED: 'policy_denied', APPROVAL_NEEDED: 'approval_required' }[envelope.error.code];
  return code === undefined ? envelope : { error: { ...envelope.error, code } };
}
