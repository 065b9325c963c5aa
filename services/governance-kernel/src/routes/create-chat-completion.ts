import type { ServerResponse } from 'node:http';
import { AppError, SessionId, type ErrorEnvelope } from '@countersign/contracts';
import { createChatCompletion } from '@countersign/contracts/governance-kernel';
import { answerOnce, takenOver, type IdempotencyClaim, type IdempotencyStore } from '@countersign/service-kit';
import { completeChat, type ChatExchange, type ChatParts, type WholeAnswer } from '../chat/complete-chat.ts';
import { handleTenant } from '../handle.ts';
import { approvalGrantHeader, defaultSession, sessionHeader } from '../mcp/call-settings.ts';

type ChatRouteParts = Omit<ChatParts, 'models'> & {
  /** Null: no model server is configured. */
  models: ChatParts['models'] | null;
  answers: IdempotencyStore;
};

/** The OpenAI-compatible boundary. Whole answers honour Idempotency-Key; streams cannot be replayed and refuse it. */
export const createChatCompletionRoute = ({ models, ...kernel }: ChatRouteParts) => {
  const parts = models === null ? null : { ...kernel, models };
  return handleTenant(createChatCompletion, { idempotency: 'handler', renderError: openAiError })(
    async (input): Promise<typeof takenOver> => {
      const { body, rawBody, caller, req, res, signal, log, requestId, idempotency } = input;
      if (parts === null) throw new AppError('UPSTREAM_NOT_CONFIGURED', 'No model server is configured');
      if (rawBody === null) throw new AppError('INVALID_REQUEST', 'A body is required');
      const session = sessionHeader(req.headers) ?? userSession(body.user) ?? defaultSession('chat', caller);
      const approvalGrant = approvalGrantHeader(req.headers);
      const exchange = { caller, session, request: body, body: rawBody, approvalGrant, signal, log, requestId };
      const answer =
        idempotency === null
          ? await completeChat(parts, exchange, res)
          : await completeOnce(parts, exchange, { res, claim: idempotency });
      if (answer !== null) sendWhole(res, answer);
      return takenOver;
    },
  );
};

/** OpenAI's `user` is free text: what cannot name a session does not. */
function userSession(user: string | undefined): SessionId | null {
  const parsed = SessionId.safeParse(user);
  return parsed.success ? parsed.data : null;
}

/** An upstream's status is its own: no contract lists what a model server may answer. */
function sendWhole(res: ServerResponse, { status, text, headers }: WholeAnswer): void {
  const length = String(Buffer.byteLength(text));
  res.writeHead(status, { ...headers, 'content-type': 'application/json; charset=utf-8', 'content-length': length });
  res.end(text);
}

type Once = { res: ServerResponse; claim: IdempotencyClaim };

async function completeOnce(
  kernel: ChatParts & Pick<ChatRouteParts, 'answers'>,
  exchange: ChatExchange,
  { res, claim }: Once,
): Promise<WholeAnswer> {
  if (exchange.request.stream === true) {
    throw new AppError('INVALID_REQUEST', 'A stream cannot be replayed: send no Idempotency-Key, or stream: false', {
      param: 'Idempotency-Key',
    });
  }
  const { tenant, principal } = exchange.caller;
  const scope = `${createChatCompletion.operation} ${tenant}\n${principal}`;
  // A model that is asked twice is paid twice and says two things. What is no success may be tried again.
  const keeps = ({ status }: { status: number }) => status === 200;
  const once = { store: kernel.answers, scope, claim, log: exchange.log, keeps };
  const { answer, replayed } = await answerOnce(once, async () => {
    const whole = await completeChat(kernel, exchange, res);
    if (whole === null) throw new Error('A whole answer was asked for');
    return whole;
  });
  return { ...answer, headers: { ...answer.headers, ...(replayed ? { 'idempotency-replayed': 'true' } : {}) } };
}

/** OpenAI clients match on lower-case codes; the two refusals of the boundary have the names that its documents give them. */
function openAiError(envelope: ErrorEnvelope): ErrorEnvelope {
  const code = { POLICY_DENIED: 'policy_denied', APPROVAL_NEEDED: 'approval_required' }[envelope.error.code];
  return code === undefined ? envelope : { error: { ...envelope.error, code } };
}
