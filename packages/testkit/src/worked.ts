import { readFileSync } from 'node:fs';

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
