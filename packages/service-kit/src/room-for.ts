import type { ServerResponse } from 'node:http';

/** Longer than usual network interruptions, and short enough that readers that never read do not accumulate. */
export const stallMaxMs = 60_000;

/**
 * Resolves when the answer accepts more data or has ended. A reader that reads nothing for `stallMs` is disconnected.
 */
export function roomFor(res: ServerResponse, stallMs = stallMaxMs): Promise<void> {
  // A closed response emits nothing more, so waiting for it would never end.
  if (res.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const stalled = setTimeout(() => res.destroy(), stallMs);
    const done = () => {
      clearTimeout(stalled);
      res.off('drain', done);
      res.off('close', done);
      resolve();
    };
    res.on('drain', done);
    res.on('close', done);
  });
}
