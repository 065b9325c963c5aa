import type { Agent, IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Transform } from 'node:stream';
import { isAppError, type AppError } from '@countersign/contracts';
import type { Forwarding } from '@countersign/contracts/routes';
import { boundedBody, hasBody } from '@countersign/service-kit';
import { createProxyMiddleware, debugProxyErrorsPlugin, proxyEventsPlugin } from 'http-proxy-middleware';
import { forwardedUrl } from './forwarded-url.ts';
import { passBack } from './pass-back.ts';
import { noteTold } from './told-by-service.ts';

type Forwarded = {
  req: IncomingMessage;
  res: ServerResponse;
  /** The headers that are sent in place of the caller's. */
  headers: IncomingHttpHeaders;
  bodyBytesMax: number;
  /** Aborted when the caller goes away. For a stream, also when the process drains. */
  signal: AbortSignal;
  /** Called when the answer begins. */
  answered(status: number): void;
};

/**
 * Forwards a request, and its answer unchanged. Resolves when the answer is complete, and throws the error to answer
 * instead.
 */
export type Forward = (forwarded: Forwarded) => Promise<void>;

/** The request as the proxy sees it: with a bounded body, the chosen headers and the normalised address. */
type Request = Transform & Pick<IncomingMessage, 'headers' | 'method' | 'url' | 'httpVersion' | 'socket'>;
type Hooks = { began(answer: IncomingMessage): void; ended(): void; failed(error: unknown): void };

type Target = Pick<Forwarding, 'silenceMaxMs' | 'answerMaxMs'> & {
  url: string;
  agent: Agent;
  /** Whether the browser receives the cookies that the service sets. */
  setsCookies: boolean;
  unavailable(cause: unknown): AppError;
};

export function createForward(target: Target): Forward {
  const { url, agent, silenceMaxMs, answerMaxMs, setsCookies, unavailable } = target;
  const hooksOf = new WeakMap<object, Hooks>();
  const proxy = createProxyMiddleware<IncomingMessage, ServerResponse>({
    target: url,
    agent,
    changeOrigin: true,
    // The library would copy headers that must be dropped, and would not answer the caller when an answer breaks off.
    selfHandleResponse: true,
    proxyTimeout: silenceMaxMs,
    // The default plugins without the one that writes an unused log line for each answer.
    ejectPlugins: true,
    plugins: [debugProxyErrorsPlugin, proxyEventsPlugin],
    on: {
      proxyReq: (sent, request) => void sent.once('close', () => hooksOf.get(request)?.ended()),
      proxyRes: (answer, request) => hooksOf.get(request)?.began(answer),
      error: (error, request) => hooksOf.get(request)?.failed(error),
    },
  });
  return ({ req, res, headers, bodyBytesMax, signal, answered }) =>
    new Promise((resolve, reject) => {
      // An answer that was closed before this call emits no further event.
      if (res.closed) return resolve();
      const request = requestOf(req, { headers, bodyBytesMax });
      let isOver = false;
      const end = (finish: () => void) => {
        if (isOver) return;
        isOver = true;
        // When it receives this event, the library stops its own work on the request.
        request.emit('aborted');
        finish();
      };
      const failed = (error: unknown) =>
        end(() => {
          if (!res.headersSent) reject(isAppError(error) ? error : unavailable(error));
          else res.destroy();
        });
      const cut = () => end(() => res.destroy());
      const timer = setTimeout(cut, answerMaxMs);
      const began = (answer: IncomingMessage) => {
        if (isOver) return;
        noteTold(req, answer.headers);
        if (!passBack(answer, res, setsCookies)) return failed(new Error('This answer cannot be forwarded'));
        answered(answer.statusCode ?? 502);
      };
      // An upgraded or dropped connection yields no answer and no error.
      const ended = () => {
        if (!res.headersSent) failed(new Error('The connection ended before an answer'));
      };
      hooksOf.set(request, { began, ended, failed });
      request.on('error', failed);
      signal.addEventListener('abort', cut, { once: true });
      res.once('close', () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', cut);
        resolve();
      });
      void proxy(request as unknown as IncomingMessage, res, failed); // the proxy reads only members of `Request`
    });
}

/** Only these methods are forwarded with a body. Bodies of other methods mean nothing (RFC 9110 §9.3.1). */
const methodsWithBody: ReadonlySet<string> = new Set(['PATCH', 'POST', 'PUT']);

function requestOf(
  req: IncomingMessage,
  { headers, bodyBytesMax }: Pick<Forwarded, 'headers' | 'bodyBytesMax'>,
): Request {
  const { method = 'GET', url = '/', httpVersion, socket } = req;
  const brings = hasBody(req) && methodsWithBody.has(method);
  const body = boundedBody(req, brings ? bodyBytesMax : 0);
  const { 'content-length': _length, 'content-type': _type, ...bodiless } = headers;
  return Object.assign(body, {
    headers: brings ? headers : bodiless,
    method,
    url: forwardedUrl(url),
    httpVersion,
    socket,
  });
}
