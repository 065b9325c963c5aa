import { validateHeaderValue, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AnyRoute, ErrorEnvelope, Media } from '@countersign/contracts';
import { clientAddress } from './client-address.ts';
import type { HttpServices } from './http-services.ts';
import type { IdempotencyClaim } from './idempotency.ts';
import type { Log } from './logger.ts';
import { parseQuery, type RawQuery } from './parse-query.ts';
import { requestIdOf, traceparentOf } from './request-identity.ts';
import type { LiveSpan } from './telemetry/tracer.ts';

/** One request and its answer. Costly members (logger, signal, trace) are created when first read. */
export class Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly services: HttpServices;
  readonly requestId: string;
  readonly startedAtMs = performance.now();
  /** Names and values, alternating, sent with any answer. */
  readonly headers: string[] = [];
  readonly operation: string;
  readonly route: AnyRoute | null;
  /** The path in a form that may be published: see FailedCall. */
  shownPath: string;
  /** True when the headers were copied to `res`, because the handler may write the answer itself. */
  arePreset = false;
  isObserved = false;
  rawParams: Readonly<Record<string, string>> = {};
  params: unknown = {};
  query: unknown = {};
  /** The body before validation. `undefined` until it has been read. */
  received: unknown = undefined;
  body: unknown = undefined;
  rawBody: Buffer | null = null;
  /** The principal that the guard recognised. `caller` is the authorized caller. */
  principal: unknown = undefined;
  caller: unknown = undefined;
  /** The error that was sent instead of a reply. */
  failure: ErrorEnvelope['error'] | null = null;
  idempotency: IdempotencyClaim | null = null;
  /** `null` when tracing is off. */
  span: LiveSpan | null = null;
  #log: Log | null = null;
  #rawQuery: RawQuery | null = null;
  #traceparent: string | null = null;
  #abort: AbortController | null = null;
  /** The media type of the answer. An address without a route answers JSON. */
  readonly media: Media;

  constructor(req: IncomingMessage, res: ServerResponse, services: HttpServices, route: AnyRoute | null) {
    this.req = req;
    this.res = res;
    this.services = services;
    this.requestId = requestIdOf(req);
    this.operation = route?.operation ?? 'none';
    this.route = route;
    this.shownPath = route?.path ?? '/';
    this.media = route?.media ?? 'json';
  }

  /**
   * Sets a header of the answer. A second value for a name replaces the first. Throws on an invalid header value. An
   * arrow function, since handlers destructure it.
   */
  readonly setHeader = (name: string, value: string): void => {
    const wanted = name.toLowerCase();
    validateHeaderValue(wanted, value);
    if (this.arePreset && !this.res.headersSent) this.res.setHeader(wanted, value);
    for (let index = 0; index < this.headers.length; index += 2) {
      if (this.headers[index] !== wanted) continue;
      this.headers[index + 1] = value;
      return;
    }
    this.headers.push(wanted, value);
  };

  /** Adds a `Set-Cookie` header. Throws on an invalid header value. */
  readonly addCookie = (text: string): void => {
    validateHeaderValue('set-cookie', text);
    if (this.arePreset && !this.res.headersSent) this.res.appendHeader('set-cookie', text);
    this.headers.push('set-cookie', text);
  };

  get log(): Log {
    this.#log ??= this.services.log.child({ request_id: this.requestId, operation: this.operation });
    return this.#log;
  }

  get rawQuery(): RawQuery {
    this.#rawQuery ??= parseQuery(this.req.url ?? '');
    return this.#rawQuery;
  }

  get traceparent(): string {
    this.#traceparent ??= this.span?.traceparent ?? traceparentOf(this.req);
    return this.#traceparent;
  }

  get clientAddress(): string {
    return clientAddress(this.req, this.services.trustedProxies);
  }

  /**
   * Aborted when the caller leaves before its answer is complete. For event streams and sockets also when the process
   * drains.
   */
  get signal(): AbortSignal {
    this.#abort ??= this.#watch(new AbortController());
    return this.#abort.signal;
  }

  #watch(abort: AbortController): AbortController {
    const { req, res } = this;
    const { streams } = this.services;
    if (res.destroyed) abort.abort();
    // A streamed answer to a GET has no end of its own. The answer of a model has one.
    const isEndless = this.media === 'openai' && req.method === 'GET';
    if (isEndless || this.media === 'event-stream' || this.media === 'socket') streams.add(abort);
    res.once('close', () => {
      streams.delete(abort);
      if (!res.writableFinished) abort.abort();
    });
    return abort;
  }
}
