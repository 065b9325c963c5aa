import { backoffMs, type Backoff } from './backoff.ts';
import type { Clock } from './clock.ts';

export type Retrying = { backoff: Backoff; clock: Clock; random: () => number };

/**
 * Opens a resource again after each loss until `signal` is aborted. `open` resolves with a promise that settles when
 * the resource has closed. Never rejects: `onLost` gets every failure and every unexpected end.
 */
export async function keepOpen(
  options: Retrying & {
    signal: AbortSignal;
    open: () => Promise<{ closed: Promise<string> }>;
    onLost: (reason: string) => void;
  },
): Promise<void> {
  const { backoff, clock, random, signal, open, onLost } = options;
  const isOver = () => signal.aborted;
  let failures = 0;
  while (!isOver()) {
    const reason = await open().then(
      ({ closed }) => {
        failures = 0;
        return closed;
      },
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    if (isOver()) return;
    onLost(reason);
    await clock.sleep(backoffMs({ attempt: failures++, ...backoff }, random), signal);
  }
}
