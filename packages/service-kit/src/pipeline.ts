import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, isAppError, type AnyRoute } from '@countersign/contracts';
import { runHandler } from './run-handler.ts';
import type { Endpoint, EndpointInput } from './endpoint.ts';
import { Exchange } from './exchange.ts';
import type { Guard } from './guard.ts';
import { GuardView, ParsedView } from './guard-view.ts';
import type { HttpServices } from './http-services.ts';
import { parseRequest } from './parse-request.ts';
import { receivedTraceparent } from './request-identity.ts';
import { sendError } from './send.ts';
import type { Tracer } from './telemetry/tracer.ts';

type Run = {
  endpoint: Endpoint;
  invoke: (input: EndpointInput) => unknown;
  req: IncomingMessage;
  res: ServerResponse;
  params: Readonly<Record<string, string>>;
  services: HttpServices;
};

/** Runs every request to an endpoint, whether it comes from the bare http server or through Express. */
export function runEndpoint(run: Run): Promise<void> {
  const { endpoint, services } = run;
  const exchange = new Exchange(run.req, run.res, services, endpoint.route);
  exchange.rawParams = run.params;
  return services.tracer === null ? answerExchange(run, exchange) : answerTraced(services.tracer, run, exchange);
}

async function answerTraced(tracer: Tracer, run: Run, exchange: Exchange): Promise<void> {
  const { method, path, operation } = run.endpoint.route;
  const fields = { 'http.request.method': method, 'http.route': path, 'countersign.operation': operation };
  const terms = { kind: 'server', parent: receivedTraceparent(run.req), fields } as const;
  await tracer.run(`${method} ${path}`, terms, async (span) => {
    exchange.span = span;
    await answerExchange(run, exchange);
    const { statusCode: status } = run.res;
    span.set({ 'http.response.status_code': status });
    if (status >= 500) span.end(String(status));
  });
}

async function answerExchange(run: Run, exchange: Exchange): Promise<void> {
  const { endpoint, services } = run;
  try {
    services.guardForeign(run.req);
    const guard = guardOf(endpoint.route, services);
    exchange.principal = await authenticate(guard, exchange, endpoint);
    const { callerKey } = services;
    await limitRate(exchange, {
      key: callerKey(exchange.principal) ?? addressKey(exchange),
      className: limitClassOf(endpoint),
    });
    if (endpoint.options.passesThrough !== true) await parseRequest(exchange, endpoint.route);
    exchange.caller = await authorize(guard, exchange, endpoint.route);
    await runHandler(exchange, endpoint, run.invoke);
  } catch (error) {
    sendError(exchange, error, endpoint.options);
  }
}

function guardOf(route: AnyRoute, services: HttpServices): Guard<unknown> {
  const guard = services.guards[route.auth];
  if (guard === undefined) throw new Error(`No guard for ${route.auth}`);
  return guard;
}

/** A caller that the guard refuses has no identity to limit, so the attempt counts for its address. */
async function authenticate(guard: Guard<unknown>, exchange: Exchange, { route, options }: Endpoint): Promise<unknown> {
  const request = new GuardView(exchange, route);
  try {
    return await (typeof guard === 'function' ? guard(request) : guard.authenticate(request));
  } catch (error) {
    const className = options.rateLimit ?? 'public';
    if (isAppError(error) && error.status === 401) await limitRate(exchange, { key: addressKey(exchange), className });
    throw error;
  }
}

function authorize(guard: Guard<unknown>, exchange: Exchange, route: AnyRoute): unknown {
  const { principal } = exchange;
  if (typeof guard === 'function') return principal;
  return guard.authorize(principal, new ParsedView(exchange, route));
}

function limitClassOf({ route, options }: Endpoint): string {
  return options.rateLimit ?? (route.auth === 'public' ? 'public' : 'standard');
}

export function addressKey(exchange: Exchange): string {
  return `address ${exchange.clientAddress}`;
}

/** Throws RATE_LIMITED. When the limiter fails, a class that fails closed throws STORE_UNAVAILABLE. */
export async function limitRate(
  exchange: Exchange,
  { key, className }: { key: string; className: string },
): Promise<void> {
  const { rateLimiter } = exchange.services;
  if (rateLimiter === null) return;
  try {
    const verdict = await rateLimiter.take(key, className);
    for (const [name, value] of Object.entries(verdict.headers)) exchange.headers.push(name, value);
    if (verdict.allowed) return;
  } catch (cause) {
    exchange.log.error('rate_limiter.failed', { limit_class: className, error: cause });
    if (rateLimiter.classOf(className)?.failClosed !== true) return;
    throw new AppError('STORE_UNAVAILABLE', 'The rate limiter does not answer', { cause });
  }
  throw new AppError('RATE_LIMITED', 'Too many requests were sent. Try again later', {
    details: { limit_class: className },
  });
}
