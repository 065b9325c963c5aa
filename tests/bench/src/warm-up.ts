import type { Measured } from './measured.ts';

/** Two windows of a warm server differ by about this much on a machine that does nothing else. */
const changeMax = 0.04;

export type WarmUp = { windows: number; isStable: boolean };

/**
 * Puts windows of load on a server until two in a row cost the same per answer. A cold one compiles while it answers, and that is
 * most of what a short measurement sees. On a machine that never settles it stops at `windowsMax` and says so.
 */
export async function warmUp(measure: () => Promise<Measured>, windowsMax: number): Promise<WarmUp> {
  let previous = Number.NaN;
  for (let windows = 1; windows <= windowsMax; windows += 1) {
    const cost = costOf(await measure());
    if (isStable(previous, cost)) return { windows, isStable: true };
    previous = cost;
  }
  return { windows: windowsMax, isStable: false };
}

/** Not a number is never stable: the first window has nothing to be compared with. */
export function isStable(previous: number, current: number): boolean {
  return Math.abs(current - previous) <= changeMax * Math.min(previous, current);
}

/** CPU hardly depends on what else the machine does. Without it the rate has to serve. */
function costOf({ cpuMicros, perSecond }: Measured): number {
  return cpuMicros ?? 1e6 / perSecond;
}
