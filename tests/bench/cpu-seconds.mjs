import { readFileSync } from 'node:fs';

/** proc(5) counts in USER_HZ, which Linux fixes at 100 for user space. */
const ticksPerSecond = 100;

/**
 * User and system time that a process has used, or null where /proc does not tell. Unlike rates it hardly depends on what else
 * the machine is doing.
 * @param {number} pid
 * @returns {number | null}
 */
export function cpuSeconds(pid) {
  try {
    // The name in parentheses may hold blanks; utime and stime are the 14th and 15th field.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  } catch {
    return null;
  }
}
