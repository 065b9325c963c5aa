import { readFileSync } from 'node:fs';

/**
 * What this thread has worked since it began, in ms: its own work and not the time, since others use the machine, and without the threads that
 * collect garbage beside it. Elsewhere than on Linux it is the work of the whole process.
 */
export function workedMs(): number {
  if (process.platform !== 'linux') return process.cpuUsage().user / 1_000;
  const [nanoseconds] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1_000_000;
}
