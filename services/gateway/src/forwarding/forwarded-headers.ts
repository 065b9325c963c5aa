import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { toldRequestHeaders } from '@countersign/contracts';

/**
 * The headers that a caller may send to another service. Headers that begin with `mcp-` and those of the route are
 * also passed on. All others are dropped: claimed identity, tenant, proxies and unknown headers. The two X-Gov headers
 * are arguments of a call and identify no caller.
 */
const passedOn: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-encoding',
  'content-length',
  'content-type',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'last-event-id',
  'tracestate',
  'user-agent',
  'x-gov-approval-grant',
  'x-gov-session-id',
]);

type Statement = {
  authorization?: string;
  requestId: string;
  traceparent: string;
  /** Further headers that the route passes on. */
  passes?: readonly string[];
};

/** The headers of a forwarded request. `received` is attacker-controlled. */
export function forwardedHeaders(
  received: IncomingHttpHeaders,
  { requestId, traceparent, passes = [], ...credential }: Statement,
): IncomingHttpHeaders {
  const isPassed = (name: string) => passedOn.has(name) || name.startsWith('mcp-') || passes.includes(name);
  const kept = Object.entries(received).filter(([name]) => isPassed(name));
  return {
    ...Object.fromEntries(kept),
    ...credential,
    'x-request-id': requestId,
    traceparent,
    [toldRequestHeaders.asked]: '1',
  };
}

/**
 * Headers of an answer that are not returned to the caller. They are hop-by-hop headers (RFC 9110 §7.6.1), cookies, and
 * headers meant only for the gateway.
 */
const keptBack: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
  toldRequestHeaders.told,
]);

/**
 * The headers of a forwarded answer. CORS headers are dropped, and rate-limit headers too, unless the answer is a
 * refusal for that limit. Cookies are kept only for the service that manages browser sessions.
 */
export function returnedHeaders(
  answered: IncomingHttpHeaders,
  { status, setsCookies }: { status: number; setsCookies: boolean },
): OutgoingHttpHeaders {
  const named = (answered.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const isOurs = (name: string) =>
    (keptBack.has(name) && !(setsCookies && name === 'set-cookie')) ||
    named.includes(name) ||
    name.startsWith('access-control-') ||
    (name.startsWith('ratelimit') && status !== 429);
  return Object.fromEntries(Object.entries(answered).filter(([name]) => !isOurs(name)));
}
