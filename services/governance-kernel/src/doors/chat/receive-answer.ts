import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { AppError } from '@countersign/contracts';
import type { Outcome } from '@countersign/contracts/governance-kernel';
import { errorAnswer, type Log, type StoredAnswer } from '@countersign/service-kit';
import type { Ending } from '../../decision/dispatch.ts';
import type { SealedDecision, Settlement } from '../../decision/sealed-decision.ts';
import { answerHeaders } from './answer-headers.ts';
import { bodyHash } from './body-hash.ts';
import { governAnswer, malformedAnswer, readAnswer, type AnswerTerms } from './govern-answer.ts';
import { GovernedStream } from './govern-stream.ts';
import { NotSent } from '../../decision/not-sent.ts';
import { isLedgerAway } from './judge-calls.ts';
import type { NoAnswer, UpstreamAnswer } from './model-upstream.ts';
import type { Usage } from './prices.ts';
import { toolCallsHeader } from './release-calls.ts';
import { StreamRelay, type StreamForm } from './relay-stream.ts';
import { readUpstreamBody, safeError, streamError, UpstreamFailure, type ErrorBody } from './upstream-error.ts';

/** A whole answer, ready to be sent, and the result that is stored under its key. */
export type WholeAnswer = StoredAnswer & { kept: Kept };

/**
 * `answer`: the answer itself. `nothing`: the model was not called, or it refused, so a repetition is not charged
 * twice. `uncertain`: the model must perhaps be paid, and its answer is unknown. `unusable`: the model is paid, and its
 * answer is not usable. A bought answer: the calls of the model could not be judged.
 */
type Kept = 'answer' | 'nothing' | 'uncertain' | 'unusable' | BoughtAnswer;

/**
 * The body as the model sent it, and the headers of the resulting answer. It is released only after its calls are
 * judged.
 */
type BoughtAnswer = Pick<StoredAnswer, 'text' | 'headers'>;

/**
 * A whole answer is parsed in one step, and this is the most that can be parsed without delaying others. A million
 * tokens of text fit.
 */
const answerBytesMax = 4_194_304;
/** A stream is read event by event, so more bytes are permitted. The JSON around each token takes most of them. */
const streamBytesMax = 33_554_432;
const errorBytesMax = 65_536;

type Running = {
  exchange: { requestId: string; log: Log; form: StreamForm };
  termsOf: (answer: UpstreamAnswer) => AnswerTerms;
  endingOf: EndingOf;
};

type Ended = {
  outcome: Exclude<Outcome, 'uncertain'>;
  usage: Usage | null;
  delivered?: { bytes: number; hash: string };
};
export type EndingOf = (ended: Ended) => Settlement;

type Received = { answer: UpstreamAnswer | NoAnswer; decision: SealedDecision; stream: boolean; res: ServerResponse };
type Answered = Received & { answer: UpstreamAnswer };

/** Reads the result of the model call to its end: whole, streamed, refused, broken or missing. */
export function receive(
  running: Running,
  received: Received,
): Promise<Ending<WholeAnswer | null>> | Ending<WholeAnswer> {
  const { answer } = received;
  if (answer.kind === 'unanswered') return noAnswer(running, received.decision, answer);
  const answered = { ...received, answer };
  if (answer.status !== 200) return passError(running, answered);
  return received.stream ? streamAnswer(running, answered) : wholeAnswer(running, answered);
}

function noAnswer(running: Running, decision: SealedDecision, { wasSent, cause }: NoAnswer): Ending<WholeAnswer> {
  const message = cause instanceof NotSent ? cause.message : 'The model server could not be reached in time';
  const error = new AppError('UPSTREAM_FAILED', message, { cause });
  return failure(running, decision, { error, kept: wasSent ? 'uncertain' : 'nothing' });
}

const noUsage: Usage = { promptTokens: 0, completionTokens: 0 };

type Failure = { error: unknown; kept: 'nothing' | 'uncertain' | 'unusable' };

/**
 * Settles a call without a usable answer. The call costs its reservation unless the model was not called. The caller
 * gets the decision in the headers.
 */
function failure(running: Running, decision: SealedDecision, { error, kept }: Failure): Ending<WholeAnswer> {
  const ending = running.endingOf({ outcome: 'failed', usage: kept === 'nothing' ? noUsage : null });
  return { ...ending, result: { ...toldError(running, decision, error), kept } };
}

function toldError({ exchange }: Running, decision: SealedDecision, error: unknown): StoredAnswer {
  const { status, headers, envelope } = errorAnswer(error, exchange.requestId, []);
  exchange.log.error('chat.failed', { decision_id: decision.reply.decision_id, error });
  return { status, text: JSON.stringify(envelope), headers: { ...answerHeaders(decision), ...headers } };
}

async function passError(
  { exchange, endingOf }: Running,
  { answer: { status, visibleHeaders, body, redacted }, decision }: Answered,
): Promise<Ending<WholeAnswer>> {
  const bytes = await readUpstreamBody(body, errorBytesMax).catch(() => Buffer.alloc(0));
  const error = safeError({ status, body: bytes, redacted, requestId: exchange.requestId });
  const kept = saysNo(status) ? 'nothing' : 'uncertain';
  return {
    ...endingOf({ outcome: 'failed', usage: kept === 'nothing' ? noUsage : null }),
    result: {
      status: error.status,
      text: JSON.stringify(error.body),
      headers: { ...visibleHeaders, ...error.headers, ...answerHeaders(decision) },
      kept,
    },
  };
}

/** Whether the server refused without calling its model. A server that failed, or a proxy, may have called it. */
function saysNo(status: number): boolean {
  return (status >= 300 && status < 500) || status === 503;
}

async function wholeAnswer(running: Running, { answer, decision }: Answered): Promise<Ending<WholeAnswer>> {
  try {
    return await governedAnswer(running, answer, decision);
  } catch (error) {
    return failure(running, decision, { error, kept: 'unusable' });
  }
}

async function governedAnswer(
  running: Running,
  answer: UpstreamAnswer,
  decision: SealedDecision,
): Promise<Ending<WholeAnswer>> {
  const { contentType, body } = answer;
  requireType(contentType, 'application/json', body);
  const { judge, choicesMax } = running.termsOf(answer);
  const text = await readUpstreamBody(body, answerBytesMax);
  const read = await readAnswer(text, choicesMax);
  const headers = { ...answer.visibleHeaders, ...answerHeaders(decision) };
  try {
    const governed = toldAnswer(await governAnswer(read, judge), headers);
    const bytes = Buffer.from(governed.text);
    const delivered = { bytes: bytes.byteLength, hash: bodyHash(bytes) };
    const ending = running.endingOf({ outcome: 'completed', usage: read.usage, delivered });
    const spent = { ...governed.headers, ...spendHeader(ending) };
    return { ...ending, result: { ...governed, headers: spent, kept: 'answer' } };
  } catch (error) {
    if (!isLedgerAway(error)) throw error;
    // The model has answered. A repeated request with the key gets its calls judged.
    const ending = running.endingOf({ outcome: 'completed', usage: read.usage });
    const kept = { text: text.toString(), headers: { ...headers, ...spendHeader(ending) } };
    return { ...ending, result: { ...toldError(running, decision, error), kept } };
  }
}

/** A whole answer whose calls were judged. */
export function toldAnswer(
  { text, decisions }: Awaited<ReturnType<typeof governAnswer>>,
  headers: StoredAnswer['headers'],
): StoredAnswer {
  const toolCalls = toolCallsHeader(decisions);
  return { status: 200, text, headers: toolCalls === null ? headers : { ...headers, 'x-gov-tool-calls': toolCalls } };
}

async function streamAnswer(
  { exchange, termsOf, endingOf }: Running,
  { answer, decision, res }: Answered,
): Promise<Ending<null>> {
  const { contentType, body } = answer;
  requireType(contentType, 'text/event-stream', body);
  const relay = new StreamRelay(res, exchange.form, answer);
  const governed = new GovernedStream(termsOf(answer));
  let outcome: 'completed' | 'failed' = 'failed';
  try {
    // From here on only events can report errors to the caller.
    res.writeHead(200, {
      ...answer.visibleHeaders,
      ...answerHeaders(decision),
      'content-type': 'text/event-stream; charset=utf-8',
      'x-accel-buffering': 'no',
    });
    res.flushHeaders();
    await relay.run(body, governed, streamBytesMax);
    outcome = 'completed';
  } catch (error) {
    if (!res.headersSent) throw error;
    exchange.log.warn('chat_stream.broken', { decision_id: decision.reply.decision_id, error });
    relay.fail(toldFault(error, { requestId: exchange.requestId, redacted: answer.redacted }));
  } finally {
    body.destroy();
  }
  const usage = governed.usage({ isDone: outcome === 'completed' });
  return { ...endingOf({ outcome, usage, delivered: relay.delivered() }), result: null };
}

/**
 * A broken stream is reported as the upstream's fault, in its own words if any, unless our own code failed (a ledger
 * that cannot seal).
 */
function toldFault(error: unknown, words: Parameters<typeof streamError>[1]): ErrorBody {
  if (error instanceof UpstreamFailure) return streamError(error, words);
  return errorAnswer(error instanceof AppError ? error : brokenStream(error), words.requestId, []).envelope;
}

/** undici's code for a body without data, and the name of our own deadline's reason. */
const silent = 'UND_ERR_BODY_TIMEOUT';
const late = 'TimeoutError';

function brokenStream(cause: unknown): AppError {
  const { code, name } = cause instanceof Error ? (cause as Error & { code?: unknown }) : {};
  if (code === silent) return new AppError('UPSTREAM_FAILED', 'The model server sent nothing for too long', { cause });
  if (name === late) return new AppError('UPSTREAM_FAILED', 'The stream of the model server took too long', { cause });
  return malformedAnswer(cause);
}

function requireType(contentType: string, wanted: string, body: Readable): void {
  if (contentType.toLowerCase().startsWith(wanted)) return;
  body.destroy();
  throw malformedAnswer(new Error(`content-type ${contentType}`));
}

/** The counted cost of the call, so that a reader of the answer needs no prices. */
function spendHeader({ spentMicros }: Settlement): Record<string, string> {
  return spentMicros === undefined ? {} : { 'x-gov-spend-micros': String(spentMicros) };
}
