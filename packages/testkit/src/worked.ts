import { readFileSync } from 'node:fs';

/** The CPU time of `referenceWork` on a quiet reference machine, in ms. */
const referenceMs = 10;

/**
 * CPU time of the main thread in ms, since its start. Unlike real time, it does not depend on other processes, and it
 * excludes garbage collector threads. On systems other than Linux, it is the CPU time of the whole process in user
 * mode.
 */
export function workedMs(): number {
  if (process.platform !== 'linux') return process.cpuUsage().user / 1_000;
  const [nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1_000_000;
}

/**
 * The least CPU time of this thread for a run, out of `tries`, in ms of the reference machine. A limit of this time
 * does not depend on the speed of the machine, because work of a known size is measured beside each try.
 */
export async function leastWorkMs(run: () => unknown, { tries = 1 } = {}): Promise<number> {
  let leastMs = Infinity;
  for (let turn = 0; turn < tries; turn += 1) {
    const before = workedMs();
    await run();
    const ranMs = workedMs() - before;
    leastMs = Math.min(leastMs, ranMs / slowness());
  }
  return leastMs;
}

/** How many times longer the same work takes now than on the reference machine. At least 1. */
export function slowness(): number {
  const turns = Array.from({ length: 3 }, () => {
    const before = workedMs();
    referenceWork();
    return workedMs() - before;
  });
  return Math.max(1, Math.min(...turns) / referenceMs);
}

/** Builds, writes and reads a value, like the code that is measured. */
function referenceWork(): unknown {
  const members = Array.from({ length: 6_000 }, (_, nth) => [`member-${nth}`, { nth, text: 'x'.repeat(nth % 32) }]);
  return JSON.parse(JSON.stringify(Object.fromEntries(members)));
}
