import { createParser, type EventSourceMessage } from 'eventsource-parser';

export type EventReader = {
  /** The next event. `null` when the stream has ended. */
  next(): Promise<EventSourceMessage | null>;
  /** Cuts the connection, like a network failure. */
  cut(): void;
};

/** Opens a stream of server-sent events and reads it at the caller's pace. */
export async function openEvents(url: string, headers: Record<string, string>): Promise<EventReader> {
  const abort = new AbortController();
  const response = await fetch(url, { headers, signal: abort.signal });
  if (response.status !== 200 || response.body === null) throw new Error(`${response.status} ${await response.text()}`);
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  const next = async (): Promise<EventSourceMessage | null> => {
    for (;;) {
      const event = events.shift();
      if (event !== undefined) return event;
      const chunk = await reader.read().catch(() => null);
      if (chunk === null || chunk.done) return null;
      parser.feed(decoder.decode(chunk.value as Uint8Array, { stream: true }));
    }
  };
  return { next, cut: () => abort.abort() };
}
