import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const requestIdPattern = /^[A-Za-z0-9._-]{1,128}$/;
/** Ids appear in logs and reports. A credential that a caller sent as an id by mistake must not appear there. */
const credentialPattern = /^((hp|cs|agk|apk|whsec)_|eyJ)/;
/** W3C Trace Context level 1: version 00, neither id all zeros. */
const traceparentPattern = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The caller's X-Request-Id when it is well-formed, otherwise a new one. */
export function requestIdOf(req: IncomingMessage): string {
  const header = req.headers['x-request-id'];
  const isId = typeof header === 'string' && requestIdPattern.test(header) && !credentialPattern.test(header);
  return isId ? header : randomUUID();
}

/** The caller's traceparent when it is well-formed, otherwise the root of a new trace. */
export function traceparentOf(req: IncomingMessage): string {
  return receivedTraceparent(req) ?? mintTraceparent();
}

/** The caller's traceparent when it is well-formed. It only continues a trace, and proves nothing. */
export function receivedTraceparent(req: IncomingMessage): string | null {
  const header = req.headers['traceparent'];
  return typeof header === 'string' && traceparentPattern.test(header) ? header : null;
}

function mintTraceparent(): string {
  const trace = randomUUID().replaceAll('-', '');
  const span = randomUUID().replaceAll('-', '').slice(16);
  return `00-${trace}-${span}-01`;
}
