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
  /** The body's bytes as they came, for routes that pass them on unchanged; null without a body. */
  readonly rawBody: Buffer | null;
  readonly caller: Caller;
  readonly requestId: string;
  /** W3C trace context to forward to other services. */
  readonly traceparent: string;
  readonly log: Log;
  readonly req: IncomingMessage;
  /** To be written only by routes whose media is not `json`, which then return `takenOver`. */
  readonly res: ServerResponse;
  /** Aborted when the caller goes away. */
  readonly signal: AbortSignal;
  readonly clientAddress: string;
  /** The Idempotency-Key of a POST with a fingerprint of the request, also where the pipeline leaves it to the handler. */
  readonly idempotency: IdempotencyClaim | null;
  setHeader(name: string, value: string): void;
  /** One `Set-Cookie` more. */
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
  /** The handler passes request and answer on as they come: nothing of the request is read before it, whatever the media. */
  passesThrough?: true;
  /** Another error body, for protocols that have their own (JSON-RPC, SCIM). Headers stay. */
  renderError?: (envelope: ErrorEnvelope) => unknown;
  /** Another status for errors of these, where the protocol has but one. */
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
 * A `handle` for handlers whose caller is what the guards of these auth classes return. Throws for a route of another
 * class, whose guard returns another caller.
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
