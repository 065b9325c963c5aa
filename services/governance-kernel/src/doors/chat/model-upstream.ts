import type { Readable } from 'node:stream';
import { startDeadline } from '@countersign/contracts';
import { Pool } from 'undici';
import type { Permit, Upstream } from '../../decision/dispatch.ts';
import { inTime } from '../../decision/in-time.ts';
import { bodyHash } from './body-hash.ts';
import { NotSent } from '../../decision/not-sent.ts';
import { listModels, type ListedModel } from './list-models.ts';
import type { ModelSpan } from './model-span.ts';
import { toldHeaders } from './told-headers.ts';

type ModelUpstreamOptions = {
  /** Base URL in OpenAI's sense (https://api.openai.com/v1). */
  url: string;
  apiKey: string | null;
  /** The time limit for an answer that is not streamed, and for silence within a stream. */
  timeoutMs: number;
  /** The time limit for a whole streamed answer, of any length. */
  streamMs: number;
};

export type UpstreamAnswer = {
  kind: 'answered';
  status: number;
  contentType: string;
  /** The headers of the answer that the caller may see. */
  visibleHeaders: Record<string, string>;
  body: Readable;
  /** Removes our credential from a text of the server. */
  redacted: (text: string) => string;
  /** Aborts when the time for the answer is over, or its caller has gone. */
  deadline: AbortSignal;
  /** The longest time without data from the server, or without reads by the caller. */
  silenceMs: number;
};

/** No answer arrived. `wasSent`: the model may have been called, and must perhaps be paid. */
export type NoAnswer = { kind: 'unanswered'; wasSent: boolean; cause: unknown };

export type ModelRequest = {
  body: Buffer;
  stream: boolean;
  traceparent: string;
  signal: AbortSignal;
  /** The span of the call, which begins when the call is sent. Absent without a collector. */
  span?: ModelSpan | null;
};

export type ModelUpstream = {
  /**
   * Sends the decided bytes unchanged. Only the trace is forwarded from the caller's headers. Never rejects because of
   * the server.
   */
  send: Upstream<ModelRequest, UpstreamAnswer | NoAnswer>;
  /** The models that the server offers. Throws UPSTREAM_FAILED. */
  listModels(): Promise<ListedModel[]>;
  close(): Promise<void>;
};

/** Enough for many slow answers at a time. More would only queue at the model. */
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
      // Without a listener, the abort error of an abandoned body would end the process.
      answer.body.on('error', () => undefined);
      return {
        kind: 'answered',
        status: answer.statusCode,
        contentType: single(answer.headers['content-type']) ?? '',
        visibleHeaders: toldHeaders(answer.headers),
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

/** Throws unless the decision is about these bytes. It contains only their hash. */
function assertDecided(permit: Permit, body: Buffer): void {
  if (permit.take().args['body_hash'] !== bodyHash(body)) throw new Error('This body differs from the decided body');
}

function modelsPath(target: URL): string {
  return completionsPath(target).replace('/chat/completions', '/models');
}

/** `…/v1` is the usual base. A bare origin and the full address of the operation are accepted too. */
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
