import type { Io } from '../io.ts';

/** A person waits so long without a word. */
const silentMs = 2_000;

/** Tells on the standard error how much has come, of what takes longer than two seconds. */
export function progressOf({ tell }: Pick<Io, 'tell'>): { add(bytes: number): void; end(): void } {
  let bytes = 0;
  const timer = setInterval(() => tell(`${Math.round(bytes / 1024)} kB\n`), silentMs);
  timer.unref();
  return {
    add: (more) => (bytes += more),
    end: () => clearInterval(timer),
  };
}
