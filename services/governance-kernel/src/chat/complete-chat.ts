import type { ServerResponse } from 'node:http';
import { AppError, type ApprovalId, type SessionId } from '@countersign/contracts';
import type { ChatCompletionRequest } from '@countersign/contracts/governance-kernel';
import type { Log, Tracer } from '@countersign/service-kit';
import type { Effects, Performed } from '../boundary/dispatch.ts';
import type { Caller, NamedCall } from '../call/governed-call.ts';
import type { Boundary, SealedDecision, Settlement } from '../boundary/sealed-decision.ts';
import { answerHeaders } from './answer-headers.ts';
import { judgeWith } from './judge-calls.ts';
import { modelCall } from './model-call.ts';
import { modelFacts, type ModelFacts } from './model-facts.ts';
import { ModelSpan } from './model-span.ts';
import type { ModelRequest, NoAnswer, UpstreamAnswer } from './model-upstream.ts';
import { costMicros, findPrice, worstCaseMicros, type ModelPrices, type Usage } from './prices.ts';
import { receive, type EndingOf, type WholeAnswer } from './receive-answer.ts';
import type { StreamForm } from './relay-stream.ts';

export type ChatParts = {
  boundary: Pick<Boundary, 'forOneAnswer'>;
  models: Effects<ModelRequest, UpstreamAnswer | NoAnswer>;
  prices: ModelPrices;
  /** How long an answer waits for a ledger that is away. */
  ledgerAwayMsMax: number;
  /** `null` when tracing is off. */
  tracer: Tracer | null;
};

export type ChatExchange = {
  caller: Caller;
  session: SessionId;
  request: ChatCompletionRequest;
  body: Buffer;
  /** The protocol of a stream. */
  form: StreamForm;
  approvalGrant: ApprovalId | null;
  /** Under it the call is decided once. */
  idempotency: NamedCall['idempotency'];
  signal: AbortSignal;
  /** Goes upstream, so that the call is found in both traces. */
  traceparent: string;
  log: Log;
  requestId: string;
};

/**
 * Decides the model call and sends it upstream on ALLOW, once. Null: a stream, written to its end. Throws POLICY_DENIED or
 * APPROVAL_NEEDED, IDEMPOTENCY_KEY_REUSED, and what the upstream makes of it.
 */
export async function completeChat(
  parts: ChatParts,
  exchange: ChatExchange,
  res: ServerResponse,
): Promise<Exclude<Performed<WholeAnswer | null>, { kind: 'refused' }>> {
  const { caller, session, request, body, traceparent, signal, log } = exchange;
  const facts = modelFacts(request, body);
  const price = findPrice(parts.prices, facts);
  const worstCase = worstCaseMicros(price, facts);
  const settle = settlementBy((usage) => (usage === null || price === null ? worstCase : costMicros(price, usage)));
  const span = parts.tracer === null ? null : new ModelSpan(parts.tracer, facts.model);
  const endingOf: EndingOf = (ended) => {
    span?.settle(ended);
    return settle(ended);
  };
  const termsOf = ({ deadline }: UpstreamAnswer) => ({
    judge: judgeWith({ ...parts, caller, session, deadline }),
    choicesMax: facts.n,
  });
  const running = { exchange, endingOf, termsOf };
  const stream = request.stream === true;
  const performing = parts.models.perform({
    call: modelCall({ ...exchange, facts, worstCaseMicros: worstCase }),
    request: { body, stream, traceparent, signal, span },
    receive: (answer, decision) => receive(running, { answer, decision, stream, res }),
    failed: settle({ outcome: 'failed', usage: null }),
    log,
  });
  const performed = await performing.finally(() => span?.end());
  requireItsSession(performed.decision, session);
  if (performed.kind === 'refused') throw refusedModelCall(performed.decision, facts);
  // A stream ends once its outcome is sealed: who has read it to the end finds the receipt.
  if (performed.kind === 'performed' && performed.result === null) res.end();
  return performed;
}

/**
 * The session is in a header, which the fingerprint of a request does not cover: a key that was used in another session must not tell what
 * was answered there. The receipt says which it was, whatever version of the kernel decided.
 */
function requireItsSession({ reply, replayed }: SealedDecision, session: SessionId): void {
  if (!replayed || reply.receipt.payload.session_id === session) return;
  throw new AppError('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used in another session');
}

/** Policies say "see args.unknown_members": their names are the caller's own, and these many are enough to correct a request by. */
const toldNamesMax = 16;

function refusedModelCall(decision: SealedDecision, { unknown_members: unknown }: ModelFacts): AppError {
  const { reply, replayed } = decision;
  const { approval, decision_id, receipt_id, reason_code } = reply;
  const args = unknown.length === 0 ? {} : { args: { unknown_members: unknown.slice(0, toldNamesMax) } };
  const code = reply.verdict === 'ESCALATE' ? 'APPROVAL_NEEDED' : 'POLICY_DENIED';
  return new AppError(code, reply.reason, {
    reasonCode: reason_code,
    headers: { ...answerHeaders(decision), ...(replayed ? { 'idempotency-replayed': 'true' } : {}) },
    details: { decision_id, receipt_id, ...(approval ? { approval } : {}), ...args },
  });
}

/** An answer with unknown usage costs its reservation. */
function settlementBy(costOf: (usage: Usage | null) => bigint | null): EndingOf {
  return ({ outcome, usage, delivered }) => ({
    outcome,
    output: {
      prompt_tokens: usage?.promptTokens ?? null,
      completion_tokens: usage?.completionTokens ?? null,
      bytes: delivered?.bytes ?? 0,
      body_hash: delivered?.hash ?? null,
    },
    ...spentOf(costOf(usage)),
  });
}

function spentOf(spentMicros: bigint | null): Pick<Settlement, 'spentMicros'> {
  return spentMicros === null ? {} : { spentMicros };
}
