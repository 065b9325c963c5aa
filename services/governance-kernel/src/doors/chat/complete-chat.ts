import type { ServerResponse } from 'node:http';
import { AppError, type ApprovalId, type SessionId } from '@countersign/contracts';
import type { ChatCompletionRequest } from '@countersign/contracts/governance-kernel';
import type { Log, Tracer } from '@countersign/service-kit';
import type { Effects, Performed } from '../../decision/dispatch.ts';
import type { Caller, NamedCall } from '../../call/governed-call.ts';
import type { Boundary, SealedDecision, Settlement } from '../../decision/sealed-decision.ts';
import { answerHeaders } from './answer-headers.ts';
import { judgeWith } from './judge-calls.ts';
import { modelCall } from './model-call.ts';
import { modelFacts, type ModelFacts } from './model-facts.ts';
import { ModelSpan } from './model-span.ts';
import type { ModelRequest, NoAnswer, UpstreamAnswer } from './model-upstream.ts';
import { costMicros, findPrice, worstCaseMicros, type ModelPrices, type Usage } from './prices.ts';
import { receive, type EndingOf, type WholeAnswer } from './receive-answer.ts';
import type { StreamForm } from './relay-stream.ts';

export type ChatDeps = {
  boundary: Pick<Boundary, 'forOneAnswer'>;
  models: Effects<ModelRequest, UpstreamAnswer | NoAnswer>;
  prices: ModelPrices;
  /** How long an answer waits for an unavailable ledger. */
  ledgerAwayMsMax: number;
  /** `null` when tracing is off. */
  tracer: Tracer | null;
};

export type ChatExchange = {
  caller: Caller;
  session: SessionId;
  request: ChatCompletionRequest;
  body: Buffer;
  /** The protocol in which a stream is written to the caller. */
  form: StreamForm;
  approvalGrant: ApprovalId | null;
  /** The key under which the call is decided once. */
  idempotency: NamedCall['idempotency'];
  signal: AbortSignal;
  /** Sent to the upstream, so that the call appears in both traces. */
  traceparent: string;
  log: Log;
  requestId: string;
};

/**
 * Decides the model call. An allowed call is sent upstream once. `result` is `null` when the answer was written as a
 * stream. Throws POLICY_DENIED, APPROVAL_NEEDED, IDEMPOTENCY_KEY_REUSED, INVALID_REQUEST and UPSTREAM_FAILED.
 */
export async function completeChat(
  deps: ChatDeps,
  exchange: ChatExchange,
  res: ServerResponse,
): Promise<Exclude<Performed<WholeAnswer | null>, { kind: 'refused' }>> {
  const { caller, session, request, body, traceparent, signal, log } = exchange;
  const facts = modelFacts(request, body);
  const price = findPrice(deps.prices, facts);
  const worstCase = worstCaseMicros(price, facts);
  const settle = settlementBy((usage) => (usage === null || price === null ? worstCase : costMicros(price, usage)));
  const span = deps.tracer === null ? null : new ModelSpan(deps.tracer, facts.model);
  const endingOf: EndingOf = (ended) => {
    span?.settle(ended);
    return settle(ended);
  };
  const termsOf = ({ deadline }: UpstreamAnswer) => ({
    judge: judgeWith({ ...deps, caller, session, deadline }),
    choicesMax: facts.n,
  });
  const running = { exchange, endingOf, termsOf };
  const stream = request.stream === true;
  const performing = deps.models.perform({
    call: modelCall({ ...exchange, facts, worstCaseMicros: worstCase }),
    request: { body, stream, traceparent, signal, span },
    receive: (answer, decision) => receive(running, { answer, decision, stream, res }),
    failed: settle({ outcome: 'failed', usage: null }),
    log,
  });
  const performed = await performing.finally(() => span?.end());
  requireItsSession(performed.decision, session);
  if (performed.kind === 'refused') throw refusedModelCall(performed.decision, facts);
  // A stream ends only after its outcome is sealed, so a reader that reached the end finds the receipt.
  if (performed.kind === 'performed' && performed.result === null) res.end();
  return performed;
}

/**
 * The session is in a header, which the fingerprint of a request does not cover. A key must not reveal an answer that
 * was given in another session. The stored receipt contains the session, whatever version of the kernel decided.
 */
function requireItsSession({ reply, replayed }: SealedDecision, session: SessionId): void {
  if (!replayed || reply.receipt.payload.session_id === session) return;
  throw new AppError('IDEMPOTENCY_KEY_REUSED', 'Idempotency-Key was used in another session. Use a new key');
}

/**
 * The maximum number of unknown members that a refusal names. The caller sent these names, and this many suffice to
 * correct a request.
 */
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
