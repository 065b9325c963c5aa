import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, pathParams, type AnyRoute, type ToldCaller } from '@countersign/contracts';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { preflightHeaders, type CorsOptions } from './cors.ts';
import type { Endpoint } from './endpoint.ts';
import type { ClassifyError } from './error-answer.ts';
import { Exchange } from './exchange.ts';
import type { FailedCall } from './failed-call.ts';
import { createForeignGuard } from './foreign-request.ts';
import type { Guards } from './guard.ts';
import type { HttpServices } from './http-services.ts';
import type { IdempotencyStore } from './idempotency.ts';
import type { Log } from './logger.ts';
import { addressKey, limitRate } from './pipeline.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { answersHead, compareSpecificity, createRouteTable, type RouteTable } from './route-table.ts';
import { sendError, sendText } from './send.ts';
import type { Telemetry } from './telemetry/open-telemetry.ts';
import { malformedEncoding } from './url-encoded.ts';

export type HttpAppOptions<Caller> = {
  endpoints: readonly Endpoint[];
  guards: Guards<Caller>;
  log: Log;
  /** Operations without path parameters that are answered in front of Express. */
  fastOperations?: readonly string[];
  cors?: CorsOptions;
  /** Names (without a port) of the service, besides its addresses and those of its own machine. */
  hosts?: readonly string[];
  rateLimiter?: RateLimiter | null;
  idempotency?: IdempotencyStore | null;
  telemetry?: Pick<Telemetry, 'http' | 'tracer'> | null;
  classifyErrors?: readonly ClassifyError[];
  /** Called for every answer of 400 and above, after it was sent. Its errors are logged. */
  onFailed?: (call: FailedCall) => void;
  callerKey?: (caller: unknown) => string | null;
  /** Returns the caller of a forwarded request, for the gateway that forwarded it without knowing the caller. */
  tellCaller?: (principal: unknown) => ToldCaller | null;
  trustedProxies?: number;
  guardQuery?: readonly string[];
  checkReplies?: boolean;
  /** Further Express handlers (forwarding, static files), after the endpoints and before 404. */
  mount?: (app: Express) => void;
};

export type HttpApp = {
  readonly listener: (req: IncomingMessage, res: ServerResponse) => void;
  readonly log: Log;
  /** Paths at which a WebSocket may be opened. */
  readonly socketPaths: ReadonlySet<string>;
  /** Ends event streams and sockets, whose callers reconnect elsewhere. */
  drain(): void;
};

/**
 * The http side of a service. Throws when two endpoints share an operation or a method and path. Throws when a route
 * has no guard for its auth class, no store for its idempotency keys, or an unknown limit class. Also throws when a
 * fast operation does not exist or has path parameters.
 */
export function createHttpApp<Caller>(options: HttpAppOptions<Caller>): HttpApp {
  const services = servicesOf(options);
  const endpoints = [...options.endpoints].sort((left, right) => compareSpecificity(left.route, right.route));
  refuseUnsound(endpoints, services);
  const fast = fastEndpoints(endpoints, options.fastOperations ?? []);
  const app = expressApp(endpoints, services, options.mount);
  const noParams = Object.freeze({});

  const listener = (req: IncomingMessage, res: ServerResponse) => {
    const endpoint = fast.size === 0 ? undefined : fast.get(`${req.method} ${pathOf(req.url ?? '/')}`);
    if (endpoint === undefined) app(req, res);
    else void endpoint.run(req, res, noParams, services);
  };
  const drain = () => {
    for (const stream of services.streams) stream.abort();
  };
  const sockets = endpoints.filter(({ route }) => route.media === 'socket');
  const socketPaths = new Set(sockets.map(({ route }) => route.path));
  return { listener, log: services.log, socketPaths, drain };
}

function servicesOf<Caller>(options: HttpAppOptions<Caller>): HttpServices {
  const cors = options.cors ?? { origins: [] };
  return Object.freeze({
    log: options.log,
    guards: options.guards,
    cors,
    guardForeign: createForeignGuard({ hosts: options.hosts ?? [], origins: cors.origins }),
    classifiers: options.classifyErrors ?? [],
    rateLimiter: options.rateLimiter ?? null,
    idempotency: options.idempotency ?? null,
    measure: options.telemetry?.http ?? null,
    tracer: options.telemetry?.tracer ?? null,
    onFailed: options.onFailed ?? null,
    callerKey: options.callerKey ?? (() => null),
    tellCaller: options.tellCaller ?? (() => null),
    trustedProxies: options.trustedProxies ?? 0,
    guardQuery: options.guardQuery ?? [],
    checkReplies: options.checkReplies ?? false,
    streams: new Set<AbortController>(),
  });
}

function refuseUnsound(endpoints: readonly Endpoint[], services: HttpServices): void {
  const seen = new Set<string>();
  for (const { route, options } of endpoints) {
    for (const name of [route.operation, `${route.method} ${route.path.replaceAll(/\{\w+\}/g, '{}')}`]) {
      if (seen.has(name)) throw new Error(`${name} is defined twice`);
      seen.add(name);
    }
    if (services.guards[route.auth] === undefined)
      throw new Error(`${route.operation} needs a guard for ${route.auth}`);
    if (losesKeys({ route, options }, services))
      throw new Error(`${route.operation} needs a store for its Idempotency-Key`);
    const limitClass = options.rateLimit;
    if (
      limitClass !== undefined &&
      services.rateLimiter !== null &&
      services.rateLimiter.classOf(limitClass) === undefined
    ) {
      throw new Error(`${route.operation} names the unknown limit class ${limitClass}`);
    }
  }
}

/** Whether the route would ignore the idempotency keys on which its callers rely. */
function losesKeys({ route, options }: Pick<Endpoint, 'route' | 'options'>, { idempotency }: HttpServices): boolean {
  const takesKeys = route.media === 'json' && route.idempotency === 'key';
  return takesKeys && options.idempotency !== 'handler' && idempotency === null;
}

function fastEndpoints(endpoints: readonly Endpoint[], operations: readonly string[]): Map<string, Endpoint> {
  const chosen = operations.map((operation) => {
    const endpoint = endpoints.find(({ route }) => route.operation === operation);
    if (endpoint === undefined) throw new Error(`There is no operation ${operation} to answer fast`);
    if (pathParams(endpoint.route.path).length > 0) throw new Error(`${operation} has path parameters`);
    return endpoint;
  });
  return new Map(chosen.map((endpoint) => [`${endpoint.route.method} ${endpoint.route.path}`, endpoint]));
}

/** Uses Express only for routing: no body parser, no etags, no query parser. */
function expressApp(endpoints: readonly Endpoint[], services: HttpServices, mount?: (app: Express) => void): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', false);
  app.enable('case sensitive routing').enable('strict routing');
  for (const endpoint of endpoints) addRoute(app, endpoint, services);
  app.use(guarded(services));
  mount?.(app);
  const table = createRouteTable(endpoints.map(({ route }) => route));
  app.use(unmatched(table, services));
  app.use(faulted(table, services));
  return app;
}

function addRoute(app: Express, endpoint: Endpoint, services: HttpServices): void {
  const { route } = endpoint;
  const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1');
  const run: RequestHandler = (req, res, next) => {
    // Express passes every HEAD request to GET handlers.
    if (req.method === 'HEAD' && !answersHead(route)) next();
    else void endpoint.run(req, res, singleParams(req.params), services);
  };
  const add: Record<AnyRoute['method'], () => void> = {
    GET: () => app.get(path, run),
    POST: () => app.post(path, run),
    PUT: () => app.put(path, run),
    PATCH: () => app.patch(path, run),
    DELETE: () => app.delete(path, run),
  };
  add[route.method]();
}

/** Our paths have no wildcards, so Express never returns a list, although its type permits one. */
function singleParams(params: Record<string, string | string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
}

/**
 * Guards requests that match no endpoint. Endpoints call the guard themselves, since only they know the form of their
 * errors.
 */
function guarded({ guardForeign }: HttpServices): RequestHandler {
  return (req, _res, next) => {
    guardForeign(req);
    next();
  };
}

function unmatched(table: RouteTable, services: HttpServices): RequestHandler {
  return (req, res) => {
    const path = pathOf(req.url);
    const exchange = unroutedExchange(req, res, { table, services });
    const methods = table.methodsOf(path);
    const allow = methods.join(', ');
    if (methods.length > 0 && req.method === 'OPTIONS') {
      for (const [name, value] of Object.entries(preflightHeaders(req, services.cors, allow)))
        exchange.setHeader(name, value);
      exchange.setHeader('allow', allow);
      sendText(exchange, 204, '');
      return;
    }
    const error = unmatchedError(path, { method: req.method, allow, neighbours: table.neighboursOf(path) });
    // Requests for unknown routes are rate limited like all others.
    limitRate(exchange, { key: addressKey(exchange), className: 'public' }).then(
      () => sendError(exchange, error),
      (limited: unknown) => sendError(exchange, limited),
    );
  };
}

type Unmatched = { method: string; allow: string; neighbours: readonly string[] };

function unmatchedError(path: string, { method, allow, neighbours }: Unmatched): AppError {
  if (!isEncoded(path)) return malformedEncoding();
  if (allow !== '')
    return new AppError('METHOD_NOT_ALLOWED', `${method} is not allowed on this path`, { headers: { allow } });
  const hint = neighbours.length === 0 ? '' : `. Similar routes: ${neighbours.join(', ')}`;
  return new AppError('ROUTE_NOT_FOUND', `No route has this path${hint}`);
}

function isEncoded(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** Express itself throws only when it cannot decode a path parameter. Mounted handlers may throw anything. */
function faulted(table: RouteTable, services: HttpServices): ErrorRequestHandler {
  return (error: unknown, req, res, _next) => {
    const isDecoding = error instanceof Error && 'status' in error && error.status === 400;
    const exchange = unroutedExchange(req, res, { table, services });
    sendError(exchange, isDecoding ? malformedEncoding(error) : error);
  };
}

function unroutedExchange(
  req: IncomingMessage,
  res: ServerResponse,
  { table, services }: { table: RouteTable; services: HttpServices },
): Exchange {
  const exchange = new Exchange(req, res, services, null);
  exchange.shownPath = table.shownPath(pathOf(req.url ?? '/'));
  return exchange;
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}
