import { readFileSync } from 'node:fs';

/**
 * The work of this thread since it began, in ms. It is its own work and not the time, since others use the machine, and
 * excludes the threads that collect garbage beside it. Elsewhere than on Linux it is the work of the whole process.
 */
export function workedMs(): number {
  if (process.platform !== 'linux') return process.cpuUsage().user / 1_000;
  const [nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1_000_000;
}
