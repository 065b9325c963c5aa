import { AppError, ErrorEnvelope, errorCodes, type ErrorCode } from './errors.ts';
import type { AnyRoute, Route } from './route.ts';

export type ClientOptions = {
  baseUrl: string;
  /** Headers of every request: credentials, tenant, traceparent. */
  headers?: () => Record<string, string>;
  timeoutMs?: number;
  fetch?: typeof globalThis.fetch;
};

export type CallInput<Params, Query, Body> = {
  params?: Params;
  query?: Partial<Query>;
  body?: Body;
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

export type Answer<Reply> = { status: number; headers: Headers; body: Reply };

type RouteCall<R> =
  R extends Route<infer Params, infer Query, infer Body, infer Reply>
    ? (input?: CallInput<Params, Query, Body>) => Promise<Answer<Reply>>
    : never;

export type Client<Routes extends Record<string, AnyRoute>> = { [Name in keyof Routes]: RouteCall<Routes[Name]> };

/** Long enough for a governed upstream call, short enough that a hung peer is noticed. */
const timeoutMsDefault = 30_000;

/**
 * The one typed HTTP client. Every answer is parsed by its contract, so a peer that answers nonsense is an error here and not
 * later. Throws AppError with the peer's code, or GOVERNANCE-neutral codes STORE_UNAVAILABLE / UPSTREAM_FAILED when it cannot answer.
 */
export function createClient<const Routes extends Record<string, AnyRoute>>(
  routes: Routes,
  options: ClientOptions,
): Client<Routes> {
  const calls = Object.entries(routes).map(([name, route]) => [
    name,
    (input?: CallInput<unknown, unknown, unknown>) => call(route, options, input),
  ]);
  return Object.fromEntries(calls) as Client<Routes>; // built from the same keys in the line above
}

async function call(
  route: AnyRoute,
  options: ClientOptions,
  input: CallInput<unknown, unknown, unknown> = {},
): Promise<Answer<unknown>> {
  const response = await send(route, options, input);
  const text = await response.text();
  const body = parseBody(text, response.status);
  const known = response.status === route.status || route.alsoStatus?.includes(response.status) === true;
  const envelope = ErrorEnvelope.safeParse(body);
  if (envelope.success) throw errorFromEnvelope(envelope.data, response.status);
  if (!known) throw new AppError('UPSTREAM_FAILED', `${route.method} ${route.path} answered ${response.status}`);
  const parsed = route.reply.safeParse(body);
  if (!parsed.success)
    throw new AppError('UPSTREAM_FAILED', `${route.method} ${route.path} broke its contract`, { cause: parsed.error });
  return { status: response.status, headers: response.headers, body: parsed.data };
}

async function send(
  route: AnyRoute,
  options: ClientOptions,
  input: CallInput<unknown, unknown, unknown>,
): Promise<Response> {
  const fetchNow = options.fetch ?? globalThis.fetch;
  const deadline = AbortSignal.timeout(options.timeoutMs ?? timeoutMsDefault);
  const hasBody = input.body !== undefined;
  const headers = {
    ...options.headers?.(),
    ...input.headers,
    ...(hasBody ? { 'content-type': 'application/json' } : {}),
  };
  try {
    return await fetchNow(urlOf(route, options.baseUrl, input), {
      method: route.method,
      headers,
      body: hasBody ? JSON.stringify(input.body) : undefined,
      signal: input.signal ? AbortSignal.any([input.signal, deadline]) : deadline,
      redirect: 'error',
    });
  } catch (cause) {
    throw new AppError('UPSTREAM_FAILED', `${route.method} ${route.path} could not be reached`, { cause });
  }
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

function parseBody(text: string, status: number): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError('UPSTREAM_FAILED', `The answer (${status}) is not JSON`, { cause });
  }
}

function errorFromEnvelope({ error }: ErrorEnvelope, status: number): AppError {
  const code: ErrorCode = error.code in errorCodes ? (error.code as ErrorCode) : 'UPSTREAM_FAILED'; // narrowed by `in`
  return new AppError(code, error.message, {
    ...(error.param === null ? {} : { param: error.param }),
    ...(error.reason_code ? { reasonCode: error.reason_code } : {}),
    details: { ...error.details, status, request_id: error.request_id },
  });
}
