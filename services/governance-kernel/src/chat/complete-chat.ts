import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { AppError, type ApprovalId, type SessionId } from '@countersign/contracts';
import type { ChatCompletionRequest, Outcome } from '@countersign/contracts/governance-kernel';
import { errorAnswer, type Log } from '@countersign/service-kit';
import type { Boundary, Caller, SealedDecision } from '../boundary/governed-call.ts';
import type { McpGateway } from '../mcp/gateway.ts';
import { governAnswer, malformedAnswer, type AnswerTerms } from './govern-answer.ts';
import { GovernedStream } from './govern-stream.ts';
import { judgeWith } from './judge-calls.ts';
import { maxTokens, modelCall } from './model-call.ts';
import type { ModelUpstream, UpstreamAnswer } from './model-upstream.ts';
import { costMinor, reservedMinor, type ModelPrices, type Usage } from './prices.ts';
import { toolCallsHeader } from './release-calls.ts';
import { StreamRelay } from './relay-stream.ts';
import { readUpstreamBody, safeError } from './upstream-error.ts';

export type ChatParts = {
  boundary: Boundary;
  upstream: ModelUpstream;
  mcp: Pick<McpGateway, 'resolveIfDeclared' | 'callTimeoutMs'>;
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
  parts: ChatParts;
  exchange: ChatExchange;
  decision: SealedDecision;
  reservedMinor: number;
  terms: AnswerTerms;
};

/** Decides the model call and sends it upstream on ALLOW. Throws POLICY_DENIED or APPROVAL_NEEDED, and what the upstream makes of it. */
export async function completeChat(
  parts: ChatParts,
  exchange: ChatExchange,
  res: ServerResponse,
): Promise<WholeAnswer | null> {
  const running = await decideModelCall(parts, exchange);
  const { request, body, signal } = exchange;
  const stream = request.stream === true;
  const answer = await parts.upstream.send({ body, stream, signal }).catch(async (error: unknown) => {
    await settle(running, { outcome: 'failed', usage: null });
    throw error;
  });
  if (answer.status !== 200) return await passError(running, answer);
  return stream ? await streamAnswer(running, answer, res) : await wholeAnswer(running, answer);
}

async function decideModelCall(parts: ChatParts, exchange: ChatExchange): Promise<Running> {
  const { caller, session, request, body } = exchange;
  const choicesMax = request.n ?? 1;
  const bound = { model: request.model, bodyBytes: body.byteLength, maxTokens: maxTokens(request), n: choicesMax };
  const reserved = reservedMinor(parts.prices, bound);
  const decision = await parts.boundary.decide(modelCall({ ...exchange, reservedMinor: reserved }));
  const { payload } = decision.reply.receipt;
  if (payload.verdict !== 'ALLOW' || decision.replayed) throw refusedModelCall(decision);
  const terms = { judge: judgeWith({ ...parts, caller, session }), choicesMax };
  return { parts, exchange, decision, reservedMinor: reserved, terms };
}

function refusedModelCall({ reply, headers }: SealedDecision): AppError {
  const { approval, decision_id, receipt_id, reason_code } = reply;
  const code = reply.verdict === 'ESCALATE' ? 'APPROVAL_NEEDED' : 'POLICY_DENIED';
  return new AppError(code, reply.reason, {
    reasonCode: reason_code,
    headers,
    details: { decision_id, receipt_id, ...(approval ? { approval } : {}) },
  });
}

async function passError(running: Running, { status, retryAfter, body }: UpstreamAnswer): Promise<WholeAnswer> {
  const { exchange, decision } = running;
  const bytes = await readUpstreamBody(body, errorBytesMax).catch(() => Buffer.alloc(0));
  const error = safeError({ status, retryAfter, body: bytes, requestId: exchange.requestId });
  await settle(running, { outcome: 'failed', usage: { promptTokens: 0, completionTokens: 0 } });
  return { status: error.status, text: JSON.stringify(error.body), headers: { ...decision.headers, ...error.headers } };
}

async function wholeAnswer(running: Running, { contentType, body }: UpstreamAnswer): Promise<WholeAnswer> {
  try {
    requireType(contentType, 'application/json', body);
    const { text, decisions, usage } = await governAnswer(await readUpstreamBody(body, answerBytesMax), running.terms);
    const bytes = Buffer.from(text);
    await settle(running, { outcome: 'completed', usage, delivered: { bytes: bytes.byteLength, hash: hashOf(bytes) } });
    const toolCalls = toolCallsHeader(decisions);
    return {
      status: 200,
      text,
      headers: { ...running.decision.headers, ...(toolCalls === null ? {} : { 'x-gov-tool-calls': toolCalls }) },
    };
  } catch (error) {
    await settle(running, { outcome: 'failed', usage: null });
    throw error;
  }
}

async function streamAnswer(
  running: Running,
  { contentType, body, deadline }: UpstreamAnswer,
  res: ServerResponse,
): Promise<null> {
  const { exchange, decision, terms } = running;
  const relay = new StreamRelay(res, deadline);
  const governed = new GovernedStream(terms);
  let outcome: Outcome = 'failed';
  try {
    requireType(contentType, 'text/event-stream', body);
    // From here on nothing but events can tell the caller what went wrong.
    res.writeHead(200, {
      ...decision.headers,
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
    await settle(running, { outcome, usage: governed.usage, delivered: relay.delivered() });
  }
  res.end();
  return null;
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

type Ending = { outcome: Outcome; usage: Usage | null; delivered?: { bytes: number; hash: string } };

/** The answer has been bought: an outcome that cannot be sealed now is kept for later and does not take it back. */
async function settle(
  { parts, exchange, decision, reservedMinor: reserved }: Running,
  { outcome, usage, delivered }: Ending,
): Promise<void> {
  const spentMinor = usage === null ? reserved : costMinor(parts.prices, exchange.request.model, usage);
  const output = {
    prompt_tokens: usage?.promptTokens ?? null,
    completion_tokens: usage?.completionTokens ?? null,
    bytes: delivered?.bytes ?? 0,
    body_hash: delivered?.hash ?? null,
  };
  await parts.boundary.settle(decision, { outcome, output, spentMinor }).catch((error: unknown) => {
    exchange.log.error('model_outcome.unsealed', { decision_id: decision.reply.decision_id, error });
  });
}

function hashOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
