import { callRoute, CallFailed, type CallInput, type ClientOptions } from './call.ts';
import { errorCodes, type ErrorCode } from './error-codes.ts';
import { AppError, ErrorEnvelope } from './errors.ts';
import type { AnyRoute, Route } from './route.ts';

export type Answer<Reply> = { status: number; headers: Headers; body: Reply };

/** An answer or a refusal. `refused` contains the error of the peer. */
export type RawAnswer<Reply> = { status: number; headers: Headers } & (
  { kind: 'replied'; body: Reply } | { kind: 'refused'; body: unknown }
);

type RouteCall<R, Form extends 'typed' | 'raw'> =
  R extends Route<infer Params, infer Query, infer Body, infer Reply>
    ? (input?: CallInput<Params, Query, Body>) => Promise<{ typed: Answer<Reply>; raw: RawAnswer<Reply> }[Form]>
    : never;

export type Client<Routes extends Record<string, AnyRoute>> = {
  [Name in keyof Routes]: RouteCall<Routes[Name], 'typed'>;
};
export type RawClient<Routes extends Record<string, AnyRoute>> = {
  [Name in keyof Routes]: RouteCall<Routes[Name], 'raw'>;
};

type Untyped = CallInput<unknown, unknown, unknown>;

/**
 * The typed HTTP client. Each answer is parsed with its contract, so a malformed answer fails here. Throws AppError
 * with the peer's code, or UPSTREAM_FAILED without a usable answer (its cause is a CallFailed).
 */
export function createClient<const Routes extends Record<string, AnyRoute>>(
  routes: Routes,
  options: ClientOptions,
): Client<Routes> {
  const calls = Object.entries(routes).map(([name, route]) => [
    name,
    (input: Untyped = {}) => replyOrThrow(route, options, input),
  ]);
  return Object.fromEntries(calls) as Client<Routes>; // `calls` has the keys of `routes`
}

/**
 * The same client for callers that handle refusals. Throws only CallFailed, since every answer of the peer is returned.
 */
export function createRawClient<const Routes extends Record<string, AnyRoute>>(
  routes: Routes,
  options: ClientOptions,
): RawClient<Routes> {
  const calls = Object.entries(routes).map(([name, route]) => [
    name,
    (input: Untyped = {}) => rawAnswer(route, options, input),
  ]);
  return Object.fromEntries(calls) as RawClient<Routes>; // `calls` has the keys of `routes`
}

async function rawAnswer(route: AnyRoute, options: ClientOptions, input: Untyped): Promise<RawAnswer<unknown>> {
  const { status, headers, body } = await callRoute(route, options, input);
  const isReply = status === route.status || route.alsoStatus?.includes(status) === true;
  if (!isReply || ErrorEnvelope.safeParse(body).success) return { kind: 'refused', status, headers, body };
  const parsed = route.reply.safeParse(body);
  if (parsed.success) return { kind: 'replied', status, headers, body: parsed.data };
  throw new CallFailed(
    'malformed',
    `${route.method} ${route.path} returned an answer that does not match its contract`,
    { cause: parsed.error },
  );
}

async function replyOrThrow(route: AnyRoute, options: ClientOptions, input: Untyped): Promise<Answer<unknown>> {
  const answer = await rawAnswer(route, options, input).catch((cause: unknown) => {
    if (cause instanceof CallFailed) throw new AppError('UPSTREAM_FAILED', cause.message, { cause });
    throw cause;
  });
  if (answer.kind === 'replied') return answer;
  const envelope = ErrorEnvelope.safeParse(answer.body);
  if (envelope.success) throw errorFromEnvelope(envelope.data, answer.status);
  throw new AppError('UPSTREAM_FAILED', `${route.method} ${route.path} answered ${answer.status}`);
}

function errorFromEnvelope({ error }: ErrorEnvelope, status: number): AppError {
  const code: ErrorCode = error.code in errorCodes ? (error.code as ErrorCode) : 'UPSTREAM_FAILED'; // narrowed by `in`
  return new AppError(code, error.message, {
    ...(error.param === null ? {} : { param: error.param }),
    ...(error.reason_code ? { reasonCode: error.reason_code } : {}),
    details: { ...error.details, status, request_id: error.request_id },
  });
}
