import { setTimeout as pause } from 'node:timers/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { ErrorEnvelope } from '@countersign/contracts';
import { CommandFailed } from '../command-failed.ts';
import type { Connection } from './connection.ts';

type Report = { event: string | undefined; data: string };

/** Pause before a broken stream is continued. */
const again = { pauseMs: 1_000 } as const;

/**
 * The events of a stream (Server-Sent Events) until the signal is aborted. A broken stream is continued after its last
 * event. Throws CommandFailed for a refusal.
 */
export async function* readEvents(connection: Connection, path: string, signal: AbortSignal): AsyncGenerator<Report> {
  let last: string | undefined;
  let wasOpen = false;
  while (!signal.aborted) {
    try {
      const events = await opened(connection, { path, last, signal });
      wasOpen = true;
      for await (const { id, event, data } of events) {
        last = id ?? last;
        yield { event, data };
      }
    } catch (cause) {
      if (!isBroken(cause) && !(wasOpen && isAway(cause))) throw cause;
    }
    await pause(again.pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

/** True for an error of `fetch` after a broken or aborted connection. */
function isBroken(cause: unknown): boolean {
  return cause instanceof TypeError || (cause instanceof DOMException && cause.name === 'AbortError');
}

function isAway(cause: unknown): boolean {
  return cause instanceof CommandFailed && cause.status === 2;
}

type Input = { path: string; last: string | undefined; signal: AbortSignal };
type Events = AsyncIterable<{ id?: string | undefined; event?: string | undefined; data: string }>;

async function opened({ url, headers }: Connection, { path, last, signal }: Input): Promise<Events> {
  const resumed: Record<string, string> = last === undefined ? {} : { 'last-event-id': last };
  const response = await fetch(new URL(path, url), { headers: { ...(await headers()), ...resumed }, signal }).catch(
    (cause: unknown) => {
      if (signal.aborted) return null;
      throw new CommandFailed(`${url} could not be reached`, 2, { cause });
    },
  );
  if (response === null || response.body === null) return none();
  if (response.ok) return response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  const report = ErrorEnvelope.safeParse(await response.json().catch(() => null));
  const { message, code } = report.data?.error ?? { message: `${url} refuses`, code: String(response.status) };
  throw new CommandFailed(`${message} (${code})`, 1);
}

async function* none(): AsyncGenerator<never> {
  // The stream of an aborted request has no events.
}
