import type { ServerResponse } from 'node:http';
import { roomFor } from './room-for.ts';

/**
 * Answers a route whose media is `json-lines` with texts that end in line feeds, as fast as the caller reads them. The
 * handler then returns `takenOver`. A failure before the first text is an ordinary answer. After it the connection is
 * cut.
 */
export async function sendLines(
  { res, signal }: { res: ServerResponse; signal: AbortSignal },
  texts: AsyncIterable<string>,
): Promise<void> {
  for await (const text of texts) {
    if (!res.headersSent) res.writeHead(200, headers);
    if (!res.write(text)) await roomFor(res);
    if (signal.aborted) break;
  }
  if (signal.aborted) res.destroy();
  else res.end();
}

const headers = { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store, no-transform' };
