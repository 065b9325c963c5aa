import type { Readable } from 'node:stream';
import { startDeadline } from '@countersign/contracts';
import { Pool } from 'undici';
import type { Permit, Upstream } from '../boundary/dispatch.ts';
import { inTime } from '../boundary/in-time.ts';
import { bodyHash } from './body-hash.ts';
import { NotSent } from '../boundary/not-sent.ts';
import { listModels, type ListedModel } from './list-models.ts';
import type { ModelSpan } from './model-span.ts';
import { toldHeaders } from './told-headers.ts';

type ModelUpstreamOptions = {
  /** Base URL in OpenAI's sense (https://api.openai.com/v1). */
  url: string;
  apiKey: string | null;
  /** The time of silence; a whole answer is silence until it is there. */
  timeoutMs: number;
  /** The time of a whole streamed answer, of any length. */
  streamMs: number;
};

export type UpstreamAnswer = {
  kind: 'answered';
  status: number;
  contentType: string;
  /** The answer's headers that the caller may see. */
  told: Record<string, string>;
  body: Readable;
  /** Removes our credential from a text of the server. */
  redacted: (text: string) => string;
  /** Aborted when the time of the answer is over, or when its caller went away. */
  deadline: AbortSignal;
  /** How long it may be silent, and its caller may leave it unread. */
  silenceMs: number;
};

/** No answer came. `wasSent`: the model may have been asked, and may be paid. */
export type NoAnswer = { kind: 'unanswered'; wasSent: boolean; cause: unknown };

export type ModelRequest = {
  body: Buffer;
  stream: boolean;
  traceparent: string;
  signal: AbortSignal;
  /** Begins when the call is sent; without a collector there is none. */
  span?: ModelSpan | null;
};

export type ModelUpstream = {
  /**
   * Sends the bytes that were decided, as they are. Only the trace of the caller's headers goes with them. Never
   * rejects because of the server.
   */
  send: Upstream<ModelRequest, UpstreamAnswer | NoAnswer>;
  /** The models that it offers. Throws UPSTREAM_FAILED. */
  listModels(): Promise<ListedModel[]>;
  close(): Promise<void>;
};

/** Enough for many slow answers at a time; more would only queue at the model. */
const connectionsMax = 128;

export function createModelUpstream({ url, apiKey, timeoutMs, streamMs }: ModelUpstreamOptions): ModelUpstream {
  const target = new URL(url);
  const pool = new Pool(target.origin, {
    connections: connectionsMax,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  const path = completionsPath(target);
  return {
    send: async (permit, { body, stream, traceparent, signal, span = null }) => {
      assertDecided(permit, body);
      const deadline = startDeadline({ ms: stream ? streamMs : timeoutMs, signal });
      const length = String(body.byteLength);
      const about = { 'content-type': 'application/json', 'content-length': length };
      const headers = { ...headersOf(apiKey, stream), ...about, traceparent: span?.begin() ?? traceparent };
      const answer = await pool
        .request({ path, method: 'POST', headers, body: inTime(permit, body), signal: deadline.signal })
        .catch(unanswered);
      if ('kind' in answer) {
        deadline.clear();
        return answer;
      }
      // An abandoned body still reports its abort; without a listener that would end the process.
      answer.body.on('error', () => undefined);
      return {
        kind: 'answered',
        status: answer.statusCode,
        contentType: single(answer.headers['content-type']) ?? '',
        told: toldHeaders(answer.headers),
        body: answer.body,
        redacted: (text) => (apiKey === null ? text : text.replaceAll(apiKey, '[redacted]')),
        deadline: deadline.signal,
        silenceMs: timeoutMs,
      };
    },
    listModels: () => listModels(pool, { path: modelsPath(target), headers: headersOf(apiKey, false) }),
    close: () => pool.destroy(),
  };
}

/** The decision was made about these bytes: only their hash is part of it. */
function assertDecided(permit: Permit, body: Buffer): void {
  if (permit.take().args['body_hash'] !== bodyHash(body)) throw new Error('This body is not the one that was decided');
}

function modelsPath(target: URL): string {
  return completionsPath(target).replace('/chat/completions', '/models');
}

/** `…/v1` is the usual base; a bare origin and the full address of the operation are understood as well. */
function completionsPath({ pathname, search }: URL): string {
  const base = pathname.replace(/\/+$/, '');
  if (base.endsWith('/chat/completions')) return `${base}${search}`;
  return `${base === '' ? '/v1' : base}/chat/completions${search}`;
}

function headersOf(apiKey: string | null, stream: boolean): Record<string, string> {
  return {
    accept: stream ? 'text/event-stream' : 'application/json',
    'user-agent': 'countersign',
    ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
  };
}

function single(header: string | string[] | undefined): string | null {
  return typeof header === 'string' ? header : null;
}

/** The error codes of a request that never had a connection. */
const neverConnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function unanswered(cause: unknown): NoAnswer {
  if (cause instanceof NotSent) return { kind: 'unanswered', wasSent: false, cause };
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : null;
  return { kind: 'unanswered', wasSent: typeof code !== 'string' || !neverConnected.has(code), cause };
}
