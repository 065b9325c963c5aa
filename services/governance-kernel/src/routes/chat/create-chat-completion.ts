import type { ServerResponse } from 'node:http';
import { AppError, SessionId, type ErrorEnvelope } from '@countersign/contracts';
import { createChatCompletion, type ChatCompletionRequest } from '@countersign/contracts/governance-kernel';
import { takenOver, type StoredAnswer } from '@countersign/service-kit';
import { completeChat } from '../../doors/chat/complete-chat.ts';
import { completeOnce, type KeyedChatDeps } from '../../doors/chat/complete-once.ts';
import { openAiStream } from '../../doors/chat/relay-stream.ts';
import { handleTenant } from '../../handle.ts';
import { approvalGrantHeader, defaultSession, sessionHeader } from '../../doors/mcp/call-settings.ts';

type ChatRouteDeps = Omit<KeyedChatDeps, 'models'> & {
  /** `null` when no model server is configured. */
  models: KeyedChatDeps['models'] | null;
};

/** The OpenAI-compatible chat route. Whole answers honour Idempotency-Key. Streams cannot be replayed and refuse it. */
export const createChatCompletionRoute = ({ models, ...kernel }: ChatRouteDeps) => {
  const deps = models === null ? null : { ...kernel, models };
  return handleTenant(createChatCompletion, { idempotency: 'handler', renderError: openAiError })(
    async (input): Promise<typeof takenOver> => {
      const { body, rawBody, caller, req, res, signal, traceparent, log, requestId, idempotency: claim } = input;
      if (deps === null)
        throw new AppError(
          'UPSTREAM_NOT_CONFIGURED',
          'This kernel has no model server. Ask its operator to configure one',
        );
      if (rawBody === null) throw new AppError('INVALID_REQUEST', 'The request has no body. Send a JSON object');
      const session = sessionHeader(req.headers) ?? userSession(body.user) ?? defaultSession(caller);
      const approvalGrant = approvalGrantHeader(req.headers);
      const chat = { request: body, body: rawBody, form: openAiStream };
      const exchange = { caller, session, ...chat, approvalGrant, traceparent, log, requestId };
      if (claim !== null) {
        refuseStream(body);
        sendWhole(res, await completeOnce(deps, { exchange, claim, res }));
        return takenOver;
      }
      const completed = await completeChat(deps, { ...exchange, signal, idempotency: undefined }, res);
      if (completed.kind !== 'performed') throw new Error('A request without an idempotency key was replayed');
      if (completed.result !== null) sendWhole(res, completed.result);
      return takenOver;
    },
  );
};

function refuseStream({ stream }: ChatCompletionRequest): void {
  if (stream !== true) return;
  throw new AppError('INVALID_REQUEST', 'A stream cannot be replayed. Remove Idempotency-Key, or send stream: false', {
    param: 'Idempotency-Key',
  });
}

/** OpenAI's `user` is free text. A value that is not a valid session name is ignored. */
function userSession(user: string | undefined): SessionId | null {
  const parsed = SessionId.safeParse(user);
  return parsed.success ? parsed.data : null;
}

/** The upstream's status is forwarded, since no contract lists the statuses of model servers. */
function sendWhole(res: ServerResponse, { status, text, headers }: StoredAnswer): void {
  const length = String(Buffer.byteLength(text));
  res.writeHead(status, { ...headers, 'content-type': 'application/json; charset=utf-8', 'content-length': length });
  res.end(text);
}

/** OpenAI clients match on lower-case codes. The two refusals of the boundary get their documented lower-case names. */
function openAiError(envelope: ErrorEnvelope): ErrorEnvelope {
  const code = { POLICY_DENIED: 'policy_denied', APPROVAL_NEEDED: 'approval_required' }[envelope.error.code];
  return code === undefined ? envelope : { error: { ...envelope.error, code } };
}
