import type { ServerResponse } from 'node:http';

/** Resolves when an answer takes more, or nothing any more. */
export function roomFor(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      res.off('drain', done);
      res.off('close', done);
      resolve();
    };
    res.on('drain', done);
    res.on('close', done);
  });
}
