import type { IncomingMessage } from 'node:http';

/** Origins that may read answers in a browser, exactly as browsers send them (`https://console.example`). */
export type CorsOptions = { origins: readonly string[] };

const exposed = [
  'ETag',
  'Idempotency-Replayed',
  'Mcp-Session-Id',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-New-Token',
  'X-Request-Id',
  'X-Gov-Decision-Id',
  'X-Gov-Evidence-Hash',
  'X-Gov-Lamport-Clock',
  'X-Gov-Policy-Hash',
  'X-Gov-Reason-Code',
  'X-Gov-Receipt',
  'X-Gov-Receipt-Id',
  'X-Gov-Verdict',
].join(', ');
const allowed = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'Last-Event-ID',
  'Mcp-Method',
  'Mcp-Name',
  'Mcp-Protocol-Version',
  'Mcp-Session-Id',
  'X-API-Key',
  'X-Gov-Approval-Grant',
  'X-Gov-Principal-ID',
  'X-Gov-Session-ID',
  'X-Gov-Tenant-ID',
  'X-Request-Id',
  'X-Workspace-Id',
  'Traceparent',
].join(', ');
/** Browsers cap this at ten minutes to two hours; ten minutes is honoured by all. */
const preflightAgeSeconds = '600';

/**
 * Header names and values, alternating, for every answer except pages. Credentials mode stays off: tokens travel in
 * Authorization, and the cookie of a page is for that page.
 */
export function corsHeaders(req: IncomingMessage, cors: CorsOptions): string[] {
  if (cors.origins.length === 0) return [];
  const origin = req.headers.origin;
  if (origin === undefined || !cors.origins.includes(origin)) return ['vary', 'Origin'];
  return ['vary', 'Origin', 'access-control-allow-origin', origin, 'access-control-expose-headers', exposed];
}

/**
 * Further headers for the answer to a preflight. Empty when the origin is not allowed, which browsers treat as a
 * refusal.
 */
export function preflightHeaders(req: IncomingMessage, cors: CorsOptions, methods: string): Record<string, string> {
  const origin = req.headers.origin;
  if (origin === undefined || !cors.origins.includes(origin)) return {};
  return {
    'access-control-allow-methods': methods,
    'access-control-allow-headers': allowed,
    'access-control-max-age': preflightAgeSeconds,
  };
}
