import { describe, expect, it } from '@jest/globals';
import type { Measured } from '../src/measured.ts';
import { isStable, warmUp } from '../src/warm-up.ts';

const window: Measured = { answers: 1, perSecond: 1, p50Ms: 1, p99Ms: 1, cpuMicros: null, generatorBusy: null };

/** A server whose answers have the listed costs, window by window. */
function serverOf(windows: readonly Partial<Measured>[]): { measure: () => Promise<Measured>; count: () => number } {
  let at = 0;
  return {
    measure: async () => ({ ...window, ...windows[at++] }),
    count: () => at,
  };
}

describe('warming up', () => {
  it('continues while answers become cheaper, and ends with the first two windows of equal cost', async () => {
    const server = serverOf([900, 600, 450, 410, 400, 100].map((cpuMicros) => ({ cpuMicros })));
    expect(await warmUp(server.measure, 12)).toEqual({ windows: 5, isStable: true });
    expect(server.count()).toBe(5);
  });

  it('ends at the cap on a machine that never settles, and reports that it is not stable', async () => {
    const server = serverOf([100, 200, 100, 200, 100].map((cpuMicros) => ({ cpuMicros })));
    expect(await warmUp(server.measure, 4)).toEqual({ windows: 4, isStable: false });
    expect(server.count()).toBe(4);
  });

  it('uses the rate where the platform does not report the CPU', async () => {
    const server = serverOf([100, 200, 202].map((perSecond) => ({ perSecond })));
    expect(await warmUp(server.measure, 12)).toEqual({ windows: 3, isStable: true });
  });

  it('needs two windows that differ by at most four hundredths in either direction', () => {
    expect(isStable(Number.NaN, 100)).toBe(false);
    expect(isStable(100, 104)).toBe(true);
    expect(isStable(104, 100)).toBe(true);
    expect(isStable(100, 105)).toBe(false);
    expect(isStable(105, 100)).toBe(false);
  });
});
