import type { IncomingMessage } from 'node:http';
import type { AnyRoute, ErrorEnvelope } from '@countersign/contracts';
import type { Exchange } from './exchange.ts';
import type { RawQuery } from './parse-query.ts';

/**
 * A request that was answered with a status of 400 or more, as far as it came. It contains the request as it was sent,
 * so a report of the call leaves those values out.
 */
export type FailedCall = {
  readonly req: IncomingMessage;
  /** Null: no route has this path and method. */
  readonly route: AnyRoute | null;
  /** Names that the service's routes have, and `{…}` for every other part. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  /** Null: it could not be read. */
  readonly query: Readonly<RawQuery> | null;
  /** The body before any shape was asked of it; undefined when there is none, or it was not read, or could not be. */
  readonly received: unknown;
  /** Null: no body was read. */
  readonly receivedBytes: number | null;
  readonly requestId: string;
  readonly status: number;
  /** Null: the answer was passed on, or is no error of ours. */
  readonly error: ErrorEnvelope['error'] | null;
  /** The principal that was recognised before anything was allowed; undefined when there was none. */
  readonly principal: unknown;
  /** A header of an answer that the handler wrote itself, such as one that it passed on; null for every other. */
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
    return null; // the caller was told why
  }
}
