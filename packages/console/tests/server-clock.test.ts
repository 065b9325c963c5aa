import { describe, expect, it } from '@jest/globals';
import { createServerClock } from '../src/api/server-clock.ts';

/** A browser and a server with clocks of their own. An answer travels for `travelMs`. */
function clocks(aheadMs: number) {
  const browser = { nowMs: Date.parse('2026-11-27T12:00:00.400Z'), aheadMs, travelMs: 0 };
  const clock = createServerClock(() => browser.nowMs);
  const send = clock.timed(async () => {
    const date = new Date(browser.nowMs + browser.aheadMs).toUTCString();
    browser.nowMs += browser.travelMs;
    return new Response(null, { headers: { date } });
  });
  const errorMs = () => clock.nowMs() - browser.nowMs - browser.aheadMs;
  return { browser, clock, errorMs, ask: () => send('/') };
}

describe("the server's clock", () => {
  it('is the clock of the browser before the first answer, and for an answer without a usable date', async () => {
    const clock = createServerClock(() => 5_000);
    expect(clock.nowMs()).toBe(5_000);
    for (const date of ['', 'soon']) {
      await clock.timed(async () => new Response(null, { headers: { date } }))('/');
      expect(clock.nowMs()).toBe(5_000);
    }
  });

  it.each([-3_600_000, 3_600_000])('follows the Date header of answers: %d ms ahead', async (aheadMs) => {
    const { ask, errorMs } = clocks(aheadMs);
    await ask();
    expect(errorMs()).toBeLessThanOrEqual(0);
    expect(errorMs()).toBeGreaterThan(-1_000);
  });

  it('is never ahead of the server, and a slow answer does not make it less exact', async () => {
    const { browser, ask, errorMs } = clocks(250);
    for (const stepMs of [0, 130, 490, 770]) {
      browser.nowMs += stepMs;
      await ask();
    }
    const exact = errorMs();
    expect(exact).toBeLessThanOrEqual(0);
    expect(exact).toBeGreaterThan(-400);
    browser.travelMs = 9_000;
    await ask();
    expect(errorMs()).toBe(exact);
  });

  it('follows the next answer after the clock of the browser was set', async () => {
    const { browser, ask, errorMs } = clocks(0);
    await ask();
    browser.nowMs += 7_200_000;
    browser.aheadMs = -7_200_000;
    expect(errorMs()).toBeGreaterThan(7_000_000);
    await ask();
    expect(Math.abs(errorMs())).toBeLessThan(1_000);
  });
});
