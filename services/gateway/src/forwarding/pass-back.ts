import type { IncomingMessage, ServerResponse } from 'node:http';
import { returnedHeaders } from './forwarded-headers.ts';

/** `false` for an answer that cannot be forwarded, such as one of status 99: nothing of it was sent. */
export function passBack(answer: IncomingMessage, res: ServerResponse, setsCookies: boolean): boolean {
  const status = answer.statusCode ?? 502;
  try {
    res.writeHead(status, returnedHeaders(answer.headers, { status, setsCookies }));
  } catch {
    return false;
  }
  // Who listens to a stream wants to know that it is open; what has a length follows at once.
  if (answer.headers['content-length'] === undefined) res.flushHeaders();
  // If an answer breaks off, the caller's breaks off too, so it is never taken for complete.
  answer.once('close', () => {
    if (!answer.complete) res.destroy();
  });
  answer.on('error', () => res.destroy());
  answer.pipe(res);
  return true;
}
