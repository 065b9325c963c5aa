/** The range that contains the server's time minus the browser's time. */
type Offset = { minMs: number; maxMs: number };

/** A `Date` header contains whole seconds. */
const headerStepMs = 1_000;

/**
 * The server's time, from the `Date` headers of answers. The browser's clock can be wrong, and the server decides when
 * an approval expires.
 */
export function createServerClock(browserNowMs: () => number = Date.now) {
  let offset: Offset | null = null;
  return {
    /** A `fetch` that reads the server's time from each answer. */
    timed:
      (send: typeof fetch): typeof fetch =>
      async (input, init) => {
        const sentMs = browserNowMs();
        const answer = await send(input, init);
        const serverMs = Date.parse(answer.headers.get('date') ?? '');
        if (!Number.isNaN(serverMs))
          offset = narrowed(offset, {
            minMs: serverMs - browserNowMs(),
            maxMs: serverMs + headerStepMs - sentMs,
          });
        return answer;
      },
    /** The earliest possible time of the server, so that nothing expires here before it expires there. */
    nowMs: () => browserNowMs() + (offset?.minMs ?? 0),
  };
}

/** The part that two ranges share. If they share none, a clock was set in between, and only the newer range is right. */
function narrowed(older: Offset | null, newer: Offset): Offset {
  if (older === null) return newer;
  const shared = { minMs: Math.max(older.minMs, newer.minMs), maxMs: Math.min(older.maxMs, newer.maxMs) };
  return shared.minMs > shared.maxMs ? newer : shared;
}

export const serverClock = createServerClock();
