import { readFileSync } from 'node:fs';

/** proc(5) counts in USER_HZ, which Linux fixes at 100 for user space. */
const ticksPerSecond = 100;

/** User and system time of these processes together. `null` on platforms without /proc. */
export function cpuSeconds(pids: readonly number[]): number | null {
  try {
    return pids.reduce((sum, pid) => sum + ticksOf(pid), 0) / ticksPerSecond;
  } catch {
    return null;
  }
}

function ticksOf(pid: number): number {
  // The name in parentheses may contain blanks. utime and stime are the 14th and 15th field.
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}
