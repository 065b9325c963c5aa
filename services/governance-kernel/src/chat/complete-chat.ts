import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { AppError, type ApprovalId, type SessionId } from '@countersign/contracts';
import type { ChatCompletionRequest, Outcome } from '@countersign/contracts/governance-kernel';
import { errorAnswer, type Log } from '@countersign/service-kit';
import type { Effects, Ending } from '../boundary/dispatch.ts';
import type { Caller } from '../call/governed-call.ts';
import type { Boundary, SealedDecision, Settlement } from '../boundary/sealed-decision.ts';
import { answerHeaders } from './answer-headers.ts';
import { bodyHash } from './body-hash.ts';
import { governAnswer, malformedAnswer, type AnswerTerms } from './govern-answer.ts';
import { GovernedStream } from './govern-stream.ts';
import { judgeWith } from './judge-calls.ts';
import { holdsTextAlone, modelCall, outputTokensAsked } from './model-call.ts';
import type { ModelRequest, UpstreamAnswer } from './model-upstream.ts';
import { costMicros, findPrice, worstCaseMicros, type ModelPrices, type Usage } from './prices.ts';
import { toolCallsHeader } from './release-calls.ts';
import { StreamRelay } from './relay-stream.ts';
import { readUpstreamBody, safeError } from './upstream-error.ts';

export type ChatParts = {
  boundary: Pick<Boundary, 'forOneAnswer'>;
  models: Effects<ModelRequest, UpstreamAnswer>;
  prices: ModelPrices;
};

export type ChatExchange = {
  caller: Caller;
  session: SessionId;
  request: ChatCompletionRequest;
  body: Buffer;
  approvalGrant: ApprovalId | null;
  signal: AbortSignal;
  log: Log;
  requestId: string;
};

/** A whole answer, ready to be sent. A streamed one was written to `res` already. */
export type WholeAnswer = { status: number; text: string; headers: Record<string, string> };

/** Whole answers are held in memory: far beyond any honest one, far below what would hurt. */
const answerBytesMax = 33_554_432;
const errorBytesMax = 65_536;

type Running = {
  exchange: ChatExchange;
  terms: AnswerTerms;
  endingOf: EndingOf;
};

/** Decides the model call and sends it upstream on ALLOW. Throws POLICY_DENIED or APPROVAL_NEEDED, and what the upstream makes of it. */
export async function completeChat(
  parts: ChatParts,
  exchange: ChatExchange,
  res: ServerResponse,
): Promise<WholeAnswer | null> {
  const { caller, session, request, body, signal, log } = exchange;
  const choicesMax = request.n ?? 1;
  const price = findPrice(parts.prices, request.model);
  const worstCase = worstCaseMicros(price, {
    bodyBytes: body.byteLength,
    holdsTextAlone: holdsTextAlone(request),
    outputTokensAsked: outputTokensAsked(request),
    n: choicesMax,
  });
  const endingOf = settlementBy((usage) => (usage === null || price === null ? worstCase : costMicros(price, usage)));
  const running = { exchange, endingOf, terms: { judge: judgeWith({ ...parts, caller, session }), choicesMax } };
  const stream = request.stream === true;
  const performed = await parts.models.perform({
    call: modelCall({ ...exchange, worstCaseMicros: worstCase }),
    request: { body, stream, signal },
    receive: (answer, decision) => receive(running, { answer, decision, stream, res }),
    failed: endingOf({ outcome: 'failed', usage: null }),
    log,
  });
  if (performed.kind !== 'performed') throw refusedModelCall(performed.decision);
  // A stream ends once its outcome is sealed: who has read it to the end finds the receipt.
  if (performed.result === null) res.end();
  return performed.result;
}

type Received = { answer: UpstreamAnswer; decision: SealedDecision; stream: boolean; res: ServerResponse };

function receive(running: Running, received: Received): Promise<Ending<WholeAnswer | null>> {
  if (received.answer.status !== 200) return passError(running, received);
  return received.stream ? streamAnswer(running, received) : wholeAnswer(running, received);
}

function refusedModelCall(decision: SealedDecision): AppError {
  const { reply } = decision;
  const { approval, decision_id, receipt_id, reason_code } = reply;
  const code = reply.verdict === 'ESCALATE' ? 'APPROVAL_NEEDED' : 'POLICY_DENIED';
  return new AppError(code, reply.reason, {
    reasonCode: reason_code,
    headers: answerHeaders(decision),
    details: { decision_id, receipt_id, ...(approval ? { approval } : {}) },
  });
}

async function passError(
  { exchange, endingOf }: Running,
  { answer: { status, retryAfter, body }, decision }: Received,
): Promise<Ending<WholeAnswer>> {
  const bytes = await readUpstreamBody(body, errorBytesMax).catch(() => Buffer.alloc(0));
  const error = safeError({ status, retryAfter, body: bytes, requestId: exchange.requestId });
  return {
    ...endingOf({ outcome: 'failed', usage: { promptTokens: 0, completionTokens: 0 } }),
    result: {
      status: error.status,
      text: JSON.stringify(error.body),
      headers: { ...answerHeaders(decision), ...error.headers },
    },
  };
}

async function wholeAnswer(
  { terms, endingOf }: Running,
  { answer: { contentType, body }, decision }: Received,
): Promise<Ending<WholeAnswer>> {
  requireType(contentType, 'application/json', body);
  const { text, decisions, usage } = await governAnswer(await readUpstreamBody(body, answerBytesMax), terms);
  const bytes = Buffer.from(text);
  const toolCalls = toolCallsHeader(decisions);
  const headers = { ...answerHeaders(decision), ...(toolCalls === null ? {} : { 'x-gov-tool-calls': toolCalls }) };
  const delivered = { bytes: bytes.byteLength, hash: bodyHash(bytes) };
  const ending = endingOf({ outcome: 'completed', usage, delivered });
  return { ...ending, result: { status: 200, text, headers: { ...headers, ...spendHeader(ending) } } };
}

async function streamAnswer(
  { exchange, terms, endingOf }: Running,
  { answer: { contentType, body, deadline }, decision, res }: Received,
): Promise<Ending<null>> {
  requireType(contentType, 'text/event-stream', body);
  const relay = new StreamRelay(res, deadline);
  const governed = new GovernedStream(terms);
  let outcome: Outcome = 'failed';
  try {
    // From here on nothing but events can tell the caller what went wrong.
    res.writeHead(200, {
      ...answerHeaders(decision),
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
    });
    res.flushHeaders();
    await relay.run(body, governed, answerBytesMax);
    outcome = 'completed';
  } catch (error) {
    if (!res.headersSent) throw error;
    exchange.log.warn('chat_stream.broken', { decision_id: decision.reply.decision_id, error });
    relay.fail(errorAnswer(upstreamFault(error), exchange.requestId, []).envelope);
  } finally {
    body.destroy();
  }
  return { ...endingOf({ outcome, usage: governed.usage, delivered: relay.delivered() }), result: null };
}

/** What a stream breaks on is the upstream's fault unless our own code says otherwise (a ledger that cannot seal). */
function upstreamFault(error: unknown): unknown {
  return error instanceof AppError ? error : malformedAnswer(error);
}

function requireType(contentType: string, wanted: string, body: Readable): void {
  if (contentType.toLowerCase().startsWith(wanted)) return;
  body.destroy();
  throw malformedAnswer(new Error(`content-type ${contentType}`));
}

/** What the call was counted for, so that who reads the answer need not know prices. */
function spendHeader({ spentMicros }: Settlement): Record<string, string> {
  return spentMicros === undefined ? {} : { 'x-gov-spend-micros': String(spentMicros) };
}

type Ended = { outcome: Outcome; usage: Usage | null; delivered?: { bytes: number; hash: string } };
type EndingOf = (ended: Ended) => Settlement;

/** An answer whose use nobody can tell costs what was reserved for it. */
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
