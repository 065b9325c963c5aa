import type { ServerResponse } from 'node:http';
import { roomFor, stallMaxMs } from './room-for.ts';

/** Below the 30 s after which the strictest common proxies cut a silent connection. */
const heartbeatMsDefault = 15_000;
const retryMsDefault = 2_000;

export type StreamEvent = {
  /** The id that the caller sends back as Last-Event-ID. */
  id?: string;
  event?: string;
  /** Without data, the event only sets the id. */
  data?: unknown;
};

export type EventStream = {
  /** Resolves when the caller has room for more: await it. Resolves to false when the stream has ended. */
  send(event: StreamEvent): Promise<boolean>;
  /** Ends the stream in an orderly way. */
  close(): void;
  /** Aborted when the stream has ended for any reason. */
  readonly ended: AbortSignal;
};

type EventStreamOptions = { heartbeatMs?: number; retryMs?: number; stallMs?: number };

/**
 * Opens Server-Sent Events on a route whose media is `event-stream` or `openai`. The handler then returns `takenOver`.
 * The stream ends by `close()`, when the caller leaves or stops reading, or when `signal` is aborted. The `signal` of
 * the handler's input is aborted also when the process drains, but only for `event-stream`. A stream has no maximum
 * duration.
 */
export function openEventStream(
  { res, signal }: { res: ServerResponse; signal: AbortSignal },
  options: EventStreamOptions = {},
): EventStream {
  const { stallMs = stallMaxMs } = options;
  const ended = new AbortController();
  res.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  });
  res.write(`retry: ${options.retryMs ?? retryMsDefault}\n\n`);
  const heartbeat = setInterval(() => {
    if (!res.writableNeedDrain) res.write(': heartbeat\n\n');
  }, options.heartbeatMs ?? heartbeatMsDefault);

  const close = () => {
    clearInterval(heartbeat);
    ended.abort();
    if (res.writableEnded) return;
    res.end();
    // A caller that does not read does not notice the end of the stream either, so its connection is cut.
    const unheard = setTimeout(() => res.destroy(), stallMs).unref();
    res.once('close', () => clearTimeout(unheard));
  };
  res.once('close', close);
  if (signal.aborted) close();
  else signal.addEventListener('abort', close, { once: true });

  const send = async (event: StreamEvent) => {
    if (ended.signal.aborted) return false;
    if (!res.write(frame(event))) await roomFor(res, stallMs);
    return !ended.signal.aborted;
  };
  return { send, close, ended: ended.signal };
}

/** A line break would end the field, so it is removed from names and ids. JSON text contains no line breaks. */
function frame({ id, event, data }: StreamEvent): string {
  const idLine = id === undefined ? '' : `id: ${oneLine(id)}\n`;
  const eventLine = event === undefined ? '' : `event: ${oneLine(event)}\n`;
  return `${idLine}${eventLine}data: ${data === undefined ? '' : JSON.stringify(data)}\n\n`;
}

function oneLine(text: string): string {
  return text.replace(/[\r\n\0]/g, '');
}
