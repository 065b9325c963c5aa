import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { AppError } from '@countersign/contracts';
import type { Outcome } from '@countersign/contracts/governance-kernel';
import { errorAnswer, type Log, type StoredAnswer } from '@countersign/service-kit';
import type { Ending } from '../boundary/dispatch.ts';
import type { SealedDecision, Settlement } from '../boundary/sealed-decision.ts';
import { answerHeaders } from './answer-headers.ts';
import { bodyHash } from './body-hash.ts';
import { governAnswer, malformedAnswer, readAnswer, type AnswerTerms } from './govern-answer.ts';
import { GovernedStream } from './govern-stream.ts';
import { NotSent } from '../boundary/not-sent.ts';
import { isLedgerAway } from './judge-calls.ts';
import type { NoAnswer, UpstreamAnswer } from './model-upstream.ts';
import type { Usage } from './prices.ts';
import { toolCallsHeader } from './release-calls.ts';
import { StreamRelay, type StreamForm } from './relay-stream.ts';
import { readUpstreamBody, safeError, streamError, UpstreamSaid, type ErrorBody } from './upstream-error.ts';

/** A whole answer, ready to be sent, and what is kept under its key. */
export type WholeAnswer = StoredAnswer & { kept: Kept };

/**
 * `answer`: the answer itself.
 * `nothing`: the model has not been asked, or refused, and asking again pays nothing twice.
 * `uncertain`: the model may be paid, and its answer is unknown.
 * `unusable`: the model is paid, and its answer is not usable.
 * A bought answer: the calls of the model could not be judged.
 */
type Kept = 'answer' | 'nothing' | 'uncertain' | 'unusable' | BoughtAnswer;

/**
 * The body as the model sent it, and the headers of the answer that it becomes. It is not released before its calls are
 * judged.
 */
type BoughtAnswer = Pick<StoredAnswer, 'text' | 'headers'>;

/** A whole answer is read in one go, and this is what can be read without holding up others. A million tokens of text are less. */
const answerBytesMax = 4_194_304;
/** A stream is read event by event; the words around each token take most of it. */
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

/** Reads what came of the model call to its end: whole, streamed, refused, broken or not at all. */
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

/** An unusable answer has been paid for: it is settled as any other, and its caller gets the decision's id. */
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
  { answer: { status, told, body, redacted }, decision }: Answered,
): Promise<Ending<WholeAnswer>> {
  const bytes = await readUpstreamBody(body, errorBytesMax).catch(() => Buffer.alloc(0));
  const error = safeError({ status, body: bytes, redacted, requestId: exchange.requestId });
  const kept = saysNo(status) ? 'nothing' : 'uncertain';
  return {
    ...endingOf({ outcome: 'failed', usage: kept === 'nothing' ? noUsage : null }),
    result: {
      status: error.status,
      text: JSON.stringify(error.body),
      headers: { ...told, ...error.headers, ...answerHeaders(decision) },
      kept,
    },
  };
}

/** A server that says no, or "not now", has not asked its model. One that broke, or stands before another, may have. */
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
  const said = await readUpstreamBody(body, answerBytesMax);
  const read = await readAnswer(said, choicesMax);
  const headers = { ...answer.told, ...answerHeaders(decision) };
  try {
    const governed = toldAnswer(await governAnswer(read, judge), headers);
    const bytes = Buffer.from(governed.text);
    const delivered = { bytes: bytes.byteLength, hash: bodyHash(bytes) };
    const ending = running.endingOf({ outcome: 'completed', usage: read.usage, delivered });
    const spent = { ...governed.headers, ...spendHeader(ending) };
    return { ...ending, result: { ...governed, headers: spent, kept: 'answer' } };
  } catch (error) {
    if (!isLedgerAway(error)) throw error;
    // The model did its part. A repeated request with the key has its calls judged then.
    const ending = running.endingOf({ outcome: 'completed', usage: read.usage });
    const kept = { text: said.toString(), headers: { ...headers, ...spendHeader(ending) } };
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
    // From here on nothing but events can tell the caller what went wrong.
    res.writeHead(200, {
      ...answer.told,
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
 * A broken stream is the upstream's fault, in its own words if it has any, unless our own code has another cause (a
 * ledger that cannot seal).
 */
function toldFault(error: unknown, words: Parameters<typeof streamError>[1]): ErrorBody {
  if (error instanceof UpstreamSaid) return streamError(error, words);
  return errorAnswer(error instanceof AppError ? error : brokenStream(error), words.requestId, []).envelope;
}

/** undici's code for a body that sends nothing, and the name of the reason of our own deadline. */
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

/** The counted cost of the call, so that a reader of the answer need not know prices. */
function spendHeader({ spentMicros }: Settlement): Record<string, string> {
  return spentMicros === undefined ? {} : { 'x-gov-spend-micros': String(spentMicros) };
}
