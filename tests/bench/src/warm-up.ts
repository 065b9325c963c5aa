import type { Measured } from './measured.ts';

/** Two windows of a warm server differ by about this share on an otherwise idle machine. */
const changeMax = 0.04;

export type WarmUp = { windows: number; isStable: boolean };

/**
 * Puts windows of load on a server until two in a row cost the same per answer. A cold server compiles while it
 * answers, which would dominate a short measurement. On a machine that never settles the warm-up ends at `windowsMax`,
 * with `isStable` false.
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

/** A previous cost of NaN is never stable: the first window has no predecessor. */
export function isStable(previous: number, current: number): boolean {
  return Math.abs(current - previous) <= changeMax * Math.min(previous, current);
}

/** CPU hardly depends on other load of the machine. Without it the rate is used. */
function costOf({ cpuMicros, perSecond }: Measured): number {
  return cpuMicros ?? 1e6 / perSecond;
}
