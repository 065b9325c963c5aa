import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AnyRoute, AuthClass, ErrorEnvelope, Route } from '@countersign/contracts';
import type { Answer, Prepared, takenOver } from './answer.ts';
import type { HttpServices } from './http-services.ts';
import type { IdempotencyClaim } from './idempotency.ts';
import type { Log } from './logger.ts';
import { runEndpoint } from './pipeline.ts';

type HandlerInput<Params, Query, Body, Caller> = {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The received bytes of the body, for routes that forward them. `null` when no body was read. */
  readonly rawBody: Buffer | null;
  readonly caller: Caller;
  readonly requestId: string;
  /** W3C trace context to forward to other services. */
  readonly traceparent: string;
  readonly log: Log;
  readonly req: IncomingMessage;
  /** Only for handlers that write the answer themselves and return `takenOver`. */
  readonly res: ServerResponse;
  /** Aborted when the caller disconnects. For event streams and sockets also when the process drains. */
  readonly signal: AbortSignal;
  readonly clientAddress: string;
  /**
   * The Idempotency-Key of a POST with a fingerprint of the request. It is also present when the handler keeps the key
   * itself.
   */
  readonly idempotency: IdempotencyClaim | null;
  setHeader(name: string, value: string): void;
  /** Adds a `Set-Cookie` header. */
  addCookie(text: string): void;
};

/** The input of a handler whose route is not known. */
export type EndpointInput = HandlerInput<unknown, unknown, unknown, unknown>;

type HandlerResult<Reply> = Reply | Answer<Reply> | Prepared | typeof takenOver;

type Handler<Params, Query, Body, Reply, Caller> = (
  input: HandlerInput<Params, Query, Body, Caller>,
) => HandlerResult<Reply> | Promise<HandlerResult<Reply>>;

export type EndpointOptions = {
  /** Limit class; default `public` for public routes, `standard` for all others. */
  rateLimit?: string;
  /** `handler`: the handler keeps the key itself, in its own transaction. Default `pipeline`. */
  idempotency?: 'pipeline' | 'handler';
  /**
   * The handler forwards request and answer unchanged. The pipeline reads neither path parameters, query nor body,
   * whatever the media.
   */
  passesThrough?: true;
  /** Replaces the error body, for protocols that have their own (JSON-RPC, SCIM). The headers stay the same. */
  renderError?: (envelope: ErrorEnvelope) => unknown;
  /** Replaces these statuses of errors, for protocols that have only one error status. */
  errorStatuses?: Readonly<Partial<Record<number, number>>>;
};

export type Endpoint = {
  readonly route: AnyRoute;
  readonly options: EndpointOptions;
  /** Never rejects: every error has been answered when it resolves. */
  run(
    req: IncomingMessage,
    res: ServerResponse,
    params: Readonly<Record<string, string>>,
    services: HttpServices,
  ): Promise<void>;
};

export type Handle<Caller> = <Params, Query, Body, Reply>(
  route: Route<Params, Query, Body, Reply>,
  options?: EndpointOptions,
) => (handler: Handler<Params, Query, Body, Reply, Caller>) => Endpoint;

/**
 * Returns a `handle` for routes of these auth classes. Its handlers get the caller that the guards of these classes
 * return. Throws for a route of a different class.
 *
 * `handle(route)(handler)` takes its arguments in two calls on purpose. In one call TypeScript infers `Reply` from the
 * handler as well and widens it. A handler that answers a wrong verdict or forgets a member would then compile.
 */
export function createHandle<Caller>(...classes: [AuthClass, ...AuthClass[]]): Handle<Caller> {
  return (route, options = {}) => {
    if (!classes.includes(route.auth))
      throw new Error(`${route.operation} is ${route.auth}, not ${classes.join(' or ')}`);
    return (handler) => endpointOf(route, options, handler);
  };
}

/** For public routes, which have no caller. */
export const handlePublic = createHandle<undefined>('public');

function endpointOf<Params, Query, Body, Reply, Caller>(
  route: Route<Params, Query, Body, Reply>,
  options: EndpointOptions,
  handler: Handler<Params, Query, Body, Reply, Caller>,
): Endpoint {
  // The pipeline has parsed params, query and body by this route's shapes, and the guard of its class made the caller.
  const invoke = (input: EndpointInput) => handler(input as HandlerInput<Params, Query, Body, Caller>);
  const endpoint: Endpoint = {
    route,
    options,
    run: (req, res, params, services) => runEndpoint({ endpoint, invoke, req, res, params, services }),
  };
  return endpoint;
}
