import type { IncomingMessage, ServerResponse } from 'node:http';
import { returnedHeaders } from './forwarded-headers.ts';

/** Forwards an answer. `false` for one that cannot be forwarded, such as one with status 99. Then nothing was sent. */
export function passBack(answer: IncomingMessage, res: ServerResponse, setsCookies: boolean): boolean {
  const status = answer.statusCode ?? 502;
  try {
    res.writeHead(status, returnedHeaders(answer.headers, { status, setsCookies }));
  } catch {
    return false;
  }
  // Readers of a stream wait for its start, so headers are sent at once. An answer with a length follows immediately.
  if (answer.headers['content-length'] === undefined) res.flushHeaders();
  // If the answer of the service breaks off, the answer to the caller does too, so it is never taken for complete.
  answer.once('close', () => {
    if (!answer.complete) res.destroy();
  });
  answer.on('error', () => res.destroy());
  answer.pipe(res);
  return true;
}
