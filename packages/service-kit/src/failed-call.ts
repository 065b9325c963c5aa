import type { IncomingMessage } from 'node:http';
import type { AnyRoute, ErrorEnvelope } from '@countersign/contracts';
import type { Exchange } from './exchange.ts';
import type { RawQuery } from './parse-query.ts';

/**
 * A request that was answered with a status of 400 or more. It contains the request as it was sent, so a report of the
 * call must omit its values.
 */
export type FailedCall = {
  readonly req: IncomingMessage;
  /** `null` when no route has this path and method. */
  readonly route: AnyRoute | null;
  /** The template of the route. Without a route: segments of the service's routes, and `{…}` for all others. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  /** `null` when it could not be parsed. */
  readonly query: Readonly<RawQuery> | null;
  /**
   * The body before validation. `undefined` when there is no body, or when the body was not read or could not be
   * parsed.
   */
  readonly received: unknown;
  /** `null` when no body was read. */
  readonly receivedBytes: number | null;
  readonly requestId: string;
  readonly status: number;
  /** `null` when the answer was forwarded, or is not an error of this service. */
  readonly error: ErrorEnvelope['error'] | null;
  /** The principal that was recognised before authorization. `undefined` when there was none. */
  readonly principal: unknown;
  /** A header of the answer, if the handler wrote the answer itself, such as a forwarded one. `null` otherwise. */
  answered(name: string): string | null;
};

export function failedCallOf(exchange: Exchange, status: number): FailedCall {
  const { req, res, route, rawParams, received, rawBody, requestId, failure, principal } = exchange;
  return {
    req,
    route,
    path: exchange.shownPath,
    params: rawParams,
    query: queryOf(exchange),
    received,
    receivedBytes: rawBody?.length ?? null,
    requestId,
    status,
    error: failure,
    principal,
    answered: (name) => {
      const value = res.getHeader(name);
      return value === undefined ? null : String(value);
    },
  };
}

function queryOf(exchange: Exchange): Readonly<RawQuery> | null {
  try {
    return exchange.rawQuery;
  } catch {
    return null; // the answer has told the caller the reason
  }
}
