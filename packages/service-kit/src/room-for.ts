import type { ServerResponse } from 'node:http';

/** Far longer than any network stands still, and short enough that readers who never read do not add up. */
export const stallMaxMs = 60_000;

/** Resolves when an answer takes more, or nothing any more: who takes nothing for `stallMs` is cut off. */
export function roomFor(res: ServerResponse, stallMs = stallMaxMs): Promise<void> {
  // A response that has closed announces nothing more: waiting for it would never end.
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
