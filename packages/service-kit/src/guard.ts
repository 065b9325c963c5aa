import type { IncomingMessage } from 'node:http';
import type { AnyRoute, AuthClass } from '@countersign/contracts';
import type { Log } from './logger.ts';
import type { RawQuery } from './parse-query.ts';

/** The part of a request that a guard may read before the body. `params` and `query` are the caller's raw text. */
export type GuardRequest = {
  readonly req: IncomingMessage;
  readonly route: AnyRoute;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<RawQuery>;
  readonly requestId: string;
  readonly log: Log;
};

/** Further members for `authorize`, parsed by the route's shapes. */
export type ParsedRequest = GuardRequest & { readonly parsed: { params: unknown; query: unknown; body: unknown } };

/**
 * Identifies the caller, or throws AppError (CREDENTIALS_REQUIRED, CREDENTIALS_INVALID, PERMISSION_DENIED, …). The
 * second form is for callers whose rights depend on the object in the body. `authenticate` runs before the body is
 * read, and `authorize` runs after it was parsed.
 */
export type Guard<Caller, Principal = unknown> =
  | ((request: GuardRequest) => Caller | Promise<Caller>)
  | {
      authenticate(request: GuardRequest): Principal | Promise<Principal>;
      authorize(principal: Principal, request: ParsedRequest): Caller | Promise<Caller>;
    };

/** One guard for each auth class of a service's routes. A route whose class has none stops the start. */
export type Guards<Caller> = { readonly [Class in AuthClass]?: Guard<Caller> };

/** The guard of `public` routes, which have no caller. */
export function anonymous(): undefined {
  return undefined;
}
