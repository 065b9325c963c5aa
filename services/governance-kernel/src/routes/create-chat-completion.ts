import { AppError, SessionId, type ErrorEnvelope } from '@countersign/contracts';
import { createChatCompletion } from '@countersign/contracts/governance-kernel';
import { prepared, takenOver, type IdempotencyClaim, type IdempotencyStore } from '@countersign/service-kit';
import { answerOnce } from '../chat/answer-once.ts';
import { completeChat, type ChatExchange, type ChatParts } from '../chat/complete-chat.ts';
import { handleTenant } from '../handle.ts';
import { approvalGrantHeader, defaultSession, parseNamed, sessionHeader } from '../mcp/call-settings.ts';

export type ChatRouteParts = ChatParts & { answers: IdempotencyStore };

/** The OpenAI-compatible boundary. Whole answers honour Idempotency-Key; streams cannot be replayed and refuse it. */
export const createChatCompletionRoute = (kernel: ChatRouteParts) =>
  handleTenant(createChatCompletion, { idempotency: 'handler', renderError: openAiError })(async (input) => {
    const { body, rawBody, caller, req, res, signal, log, requestId, idempotency } = input;
    if (!kernel.upstream.isConfigured) throw new AppError('UPSTREAM_NOT_CONFIGURED', 'No model server is configured');
    if (rawBody === null) throw new AppError('INVALID_REQUEST', 'A body is required');
    const session =
      sessionHeader(req.headers) ?? parseNamed(SessionId, 'user', body.user) ?? defaultSession('chat', caller);
    const approvalGrant = approvalGrantHeader(req.headers);
    const exchange = { caller, session, request: body, body: rawBody, approvalGrant, signal, log, requestId };
    if (idempotency !== null) return await completeOnce(kernel, exchange, { res, claim: idempotency });
    const answer = await completeChat(kernel, exchange, res);
    return answer === null ? takenOver : prepared(answer.status, answer.text, answer.headers);
  });

type Once = { res: Parameters<typeof completeChat>[2]; claim: IdempotencyClaim };

async function completeOnce(kernel: ChatRouteParts, exchange: ChatExchange, { res, claim }: Once) {
  if (exchange.request.stream === true) {
    throw new AppError('INVALID_REQUEST', 'A stream cannot be replayed: send no Idempotency-Key, or stream: false', {
      param: 'Idempotency-Key',
    });
  }
  const { tenant, principal } = exchange.caller;
  const scope = `${createChatCompletion.operation} ${tenant}\n${principal}`;
  const { answer, replayed } = await answerOnce({ store: kernel.answers, scope, claim }, async () => {
    const whole = await completeChat(kernel, exchange, res);
    if (whole === null) throw new Error('A whole answer was asked for');
    return whole;
  });
  return prepared(answer.status, answer.text, {
    ...answer.headers,
    ...(replayed ? { 'idempotency-replayed': 'true' } : {}),
  });
}

/** OpenAI clients match on lower-case codes; the two refusals of the boundary have the names that its documents give them. */
function openAiError(envelope: ErrorEnvelope): ErrorEnvelope {
  const code = { POLICY_DENIED: 'policy_denied', APPROVAL_NEEDED: 'approval_required' }[envelope.error.code];
  return code === undefined ? envelope : { error: { ...envelope.error, code } };
}
