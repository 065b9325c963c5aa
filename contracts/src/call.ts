import { z } from 'zod';
import { startDeadline, type Deadline } from './deadline.ts';
import type { AnyRoute } from './route.ts';

export type ClientOptions = {
  baseUrl: string;
  /**
   * Headers of every request: credentials, tenant, traceparent. They are read for each attempt, since a credential may
   * expire between attempts.
   */
  headers?: () => Record<string, string> | Promise<Record<string, string>>;
  /** The time limit for all attempts of a call together, in milliseconds. Default 30 seconds. */
  timeoutMs?: number;
  fetch?: typeof globalThis.fetch;
  /**
   * How long a safe request is repeated while the peer is unreachable or answers "not now", in milliseconds. Safe
   * requests are reads, replacements of a whole object without If-Match, and writes with an Idempotency-Key. Default 0.
   */
  repeatsForMs?: number;
};

export type CallInput<Params, Query, Body> = {
  params?: Unbranded<Params>;
  query?: Partial<Unbranded<Query>>;
  body?: Unbranded<Body>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

/** Removes brands from request types, since the peer parses each request. Open objects have no brands to remove. */
type Unbranded<T> = T extends { [z.$brand]: unknown }
  ? T extends number
    ? number
    : string
  : T extends object
    ? string extends keyof T
      ? T
      : { [Member in keyof T]: Unbranded<T[Member]> }
    : T;

/** A response with any status. */
type Received = { status: number; headers: Headers; body: unknown };

/**
 * Failures without an answer of the peer. `unreachable`: the connection failed. `late`: the answer was not complete in
 * time. `aborted`: the caller's own signal. `malformed`: the answer is too large, is not JSON, or breaks the contract.
 */
export type CallFault = 'unreachable' | 'late' | 'aborted' | 'malformed';

export class CallFailed extends Error {
  readonly fault: CallFault;

  constructor(fault: CallFault, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'CallFailed';
    this.fault = fault;
  }
}

/** Long enough for a governed upstream call, short enough that a hung peer is noticed. */
const timeoutMsDefault = 30_000;
/**
 * The most bytes of an answer, so that a malicious peer cannot fill the memory. The kernel has the same limit for
 * answers of a model.
 */
const answerBytesMax = 33_554_432;
/**
 * The pause before a repeated request doubles up to two seconds, so that callers continue soon after the peer is back.
 */
const repeatPauseMs = { first: 200, max: 2_000 };
/**
 * The pause before a repeat while the first request with the same Idempotency-Key is still running. Repeats continue
 * until the deadline.
 */
const inFlightPauseMs = 500;
/** Statuses that mean "not now", regardless of the request. */
const notNow = new Set([425, 429, 503]);

type Untyped = CallInput<unknown, unknown, unknown>;
type Request = RequestInit & { headers: Record<string, string> };
type Attempt = { url: string; init: Request; deadline: Deadline; abort: AbortSignal | undefined };

/** One call of one operation. Throws CallFailed. */
export async function callRoute(route: AnyRoute, options: ClientOptions, input: Untyped): Promise<Received> {
  const url = urlOf(route, options.baseUrl, input);
  const deadline = startDeadline({ ms: options.timeoutMs ?? timeoutMsDefault, signal: input.signal });
  const { signal: ending } = deadline;
  try {
    const attempt = { url, init: requestOf(route, input, ending), deadline, abort: input.signal };
    const send = () => sendOnce(options, attempt);
    const repeatsForMs = options.repeatsForMs ?? 0;
    if (repeatsForMs === 0 || !isRepeatable(attempt.init)) return await send();
    return await repeated(() => untilNotInFlight(send, ending), { ending, untilMs: Date.now() + repeatsForMs });
  } finally {
    deadline.clear();
  }
}

type Patience = { ending: AbortSignal; untilMs: number };

/** Only failed connections are retried. An expired deadline, an abort or a malformed answer is final. */
async function repeated(send: () => Promise<Received>, { ending, untilMs }: Patience): Promise<Received> {
  for (let pauseMs = repeatPauseMs.first; ; pauseMs = Math.min(2 * pauseMs, repeatPauseMs.max)) {
    const attempt = await send().catch(unlessUnreachable);
    if (!(attempt instanceof CallFailed) && !saysNotNow(attempt)) return attempt;
    const waitMs = attempt instanceof CallFailed ? pauseMs : Math.max(pauseMs, retryAfterMs(attempt.headers));
    if (Date.now() + waitMs > untilMs || ending.aborted) {
      if (attempt instanceof CallFailed) throw attempt;
      return attempt;
    }
    await pause(waitMs, ending);
  }
}

const Final = z.object({ error: z.object({ retryable: z.literal(false) }) });

function saysNotNow({ status, body }: Received): boolean {
  return notNow.has(status) && !Final.safeParse(body).success;
}

function retryAfterMs(headers: Headers): number {
  const seconds = Number(headers.get('retry-after') ?? 0);
  return Number.isFinite(seconds) ? seconds * 1_000 : 0;
}

function requestOf(route: AnyRoute, input: Untyped, signal: AbortSignal): Request {
  const hasBody = input.body !== undefined;
  return {
    method: route.method,
    headers: { ...input.headers, ...(hasBody ? { 'content-type': 'application/json' } : {}) },
    // Serialised once: under one key a repeated request must have the same bytes.
    ...(hasBody ? { body: JSON.stringify(input.body) } : {}),
    signal,
    redirect: 'error',
  };
}

async function sendOnce(options: ClientOptions, { url, init, deadline, abort }: Attempt): Promise<Received> {
  const fetchNow = options.fetch ?? globalThis.fetch;
  try {
    const headers = { ...(await options.headers?.()), ...init.headers };
    const response = await fetchNow(url, { ...init, headers });
    const bytes = await readBytes(response);
    return { status: response.status, headers: response.headers, body: parseBytes(bytes, isLines(response)) };
  } catch (cause) {
    if (cause instanceof CallFailed) throw cause;
    if (abort?.aborted) throw new CallFailed('aborted', `${url} was cancelled`, { cause });
    if (deadline.isOver()) throw new CallFailed('late', `${url} did not answer in time`, { cause });
    throw new CallFailed('unreachable', `${url} could not be reached`, { cause });
  }
}

async function readBytes(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const body: AsyncIterable<Uint8Array> | Uint8Array[] = response.body ?? [];
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > answerBytesMax) throw new CallFailed('malformed', `The answer (${response.status}) is too large`);
    chunks.push(chunk);
  }
  return joined(chunks, length);
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

/** One JSON text per line. The last line also ends with a line feed, so truncated answers are detected. */
function linesOf(text: string): unknown[] {
  const lines = text.split('\n');
  if (lines.pop() !== '') throw new SyntaxError('The last line has no line feed');
  return lines.map((line): unknown => JSON.parse(line));
}

function isLines({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('application/x-ndjson') === true;
}

/** Invalid UTF-8 is rejected and never replaced, so that no altered text is read. */
function parseBytes(bytes: Uint8Array, areLines: boolean): unknown {
  if (bytes.byteLength === 0) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return areLines ? linesOf(text) : JSON.parse(text);
  } catch (cause) {
    throw new CallFailed('malformed', 'The answer is not JSON', { cause });
  }
}

/**
 * A write without a key may have taken effect although its answer was lost, so it is not repeated. The exception is a
 * PUT without If-Match, which leaves the same state.
 */
function isRepeatable({ method, headers }: Request): boolean {
  const callerHeaders = new Headers(headers);
  return (
    method === 'GET' || (method === 'PUT' && !callerHeaders.has('if-match')) || callerHeaders.has('idempotency-key')
  );
}

async function untilNotInFlight(send: () => Promise<Received>, ending: AbortSignal): Promise<Received> {
  let received = await send();
  while (isInFlight(received) && !ending.aborted) {
    await pause(inFlightPauseMs, ending);
    received = await send();
  }
  return received;
}

const InFlight = z.object({ error: z.object({ code: z.literal('IDEMPOTENCY_IN_FLIGHT') }) });

function isInFlight({ status, body }: Received): boolean {
  return status === 409 && InFlight.safeParse(body).success;
}

function unlessUnreachable(error: unknown): CallFailed {
  if (error instanceof CallFailed && error.fault === 'unreachable') return error;
  throw error;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}

/** The absolute address of one call: path parameters filled in and encoded, query members appended. */
export function urlOf(route: AnyRoute, baseUrl: string, input: { params?: unknown; query?: unknown }): string {
  const params = Object.entries(input.params ?? {});
  const path = params.reduce(
    (filled, [name, value]) => filled.replace(`{${name}}`, encodeURIComponent(String(value))),
    route.path,
  );
  const url = new URL(path, baseUrl);
  for (const [name, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url.href;
}
