import type { Io } from '../io.ts';

/** Time before the first progress message. */
const silentMs = 2_000;

/** Reports the number of received bytes on the standard error, if a transfer takes longer than two seconds. */
export function progressOf({ tell }: Pick<Io, 'tell'>): { add(bytes: number): void; end(): void } {
  let bytes = 0;
  const timer = setInterval(() => tell(`${Math.round(bytes / 1024)} kB\n`), silentMs);
  timer.unref();
  return {
    add: (more) => (bytes += more),
    end: () => clearInterval(timer),
  };
}
