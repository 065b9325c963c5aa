import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { toldRequestHeaders } from '@countersign/contracts';

/**
 * The headers that a caller may send to the service behind us. All other headers end here: claimed identity, tenant and
 * proxies, and each header that we have not thought of. The two of X-Gov are arguments of a call, and identify no
 * caller.
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

type Said = {
  authorization?: string;
  requestId: string;
  traceparent: string;
  /** Further headers that the route passes on. */
  passes?: readonly string[];
};

/** The headers of a request that is passed on. `received` is attacker-controlled. */
export function forwardedHeaders(
  received: IncomingHttpHeaders,
  { requestId, traceparent, passes = [], ...credential }: Said,
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

/** Hop by hop (RFC 9110 §7.6.1), or about the connection or the page between us and the other service. */
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
 * The headers of an answer that is passed on. Its limits are not ours, unless they are why it refuses; its cookies are the browser's where
 * the service keeps the sessions of browsers.
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
