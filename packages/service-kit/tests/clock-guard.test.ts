import { describe, expect, it } from '@jest/globals';
import { AppError } from '@countersign/contracts';
import fc from 'fast-check';
import { ClockGuard, clockSkewMaxMs, type Log } from '../src/index.ts';
import { sureSkewMs } from '../src/clock-skew.ts';

const startMs = Date.parse('2026-11-24T10:00:00.000Z');
const skew = fc.integer({ min: -1e9, max: 1e9 });
const latency = fc.integer({ min: 0, max: 1e9 });

describe('what is sure of a clock’s distance', () => {
  it.each<[string, { beforeMs: number; databaseMs: number; afterMs: number }, number]>([
    ['none within the reading', { beforeMs: 0, databaseMs: 5, afterMs: 10 }, 0],
    ['none at either end of it', { beforeMs: 5, databaseMs: 5, afterMs: 5 }, 0],
    ['none however long the reading took', { beforeMs: 0, databaseMs: 900_000, afterMs: 900_000 }, 0],
    ['ahead by what it showed before', { beforeMs: 30, databaseMs: 10, afterMs: 900_000 }, 20],
    ['behind by what it showed after', { beforeMs: -900_000, databaseMs: 10, afterMs: -20 }, -30],
    ['ahead, where it was corrected in the meantime', { beforeMs: 30, databaseMs: 10, afterMs: 0 }, 20],
  ])('is %s', (_what, reading, sure) => {
    expect(sureSkewMs(reading)).toBe(sure);
  });

  it('is never more than the distance, which no latency adds to, and is all of it without latency', () => {
    fc.assert(
      fc.property(skew, latency, latency, (skewMs, thereMs, backMs) => {
        const databaseMs = startMs + thereMs;
        const reading = { beforeMs: startMs + skewMs, databaseMs, afterMs: databaseMs + backMs + skewMs };
        const sure = sureSkewMs(reading);
        expect(Math.abs(sure)).toBeLessThanOrEqual(Math.abs(skewMs));
        expect(sure * skewMs).toBeGreaterThanOrEqual(0);
        if (thereMs + backMs === 0) expect(Math.abs(sure - skewMs)).toBe(0);
      }),
    );
  });

  it('leaves less between two services than the public verifier accepts between a receipt and a checkpoint', () => {
    expect(2 * clockSkewMaxMs).toBeLessThan(60_000);
  });
});

/** A guard over clocks that a test sets, in milliseconds from the start; it keeps what is logged. */
function guardOver(clocks: { machineMs: number; databaseMs: number }) {
  const lines: unknown[] = [];
  const log = {
    error: (event, fields) => void lines.push([event, fields]),
    info: (event) => void lines.push([event]),
  } as Partial<Log> as Log; // nothing else is logged
  const guard = new ClockGuard({
    machineClock: () => new Date(startMs + clocks.machineMs),
    readDatabaseMs: async () => startMs + clocks.databaseMs,
    refusal: (distance) => new AppError('STORE_UNAVAILABLE', distance),
    log,
  });
  return { guard, lines };
}

describe('the guard of the clock', () => {
  it.each([
    [20_000, null],
    [-20_000, null],
    [20_001, "20 s ahead of the database's"],
    [-20_001, "20 s behind the database's"],
    [600_000, "600 s ahead of the database's"],
  ])('holds it %d ms away: %s', async (machineMs, distance) => {
    const { guard } = guardOver({ machineMs, databaseMs: 0 });
    expect(await guard.isNear()).toBe(distance === null);
    const asserted = guard.assertNear();
    if (distance === null) return await expect(asserted).resolves.toBeUndefined();
    await expect(asserted).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', message: distance });
    await expect(guard.check(new AbortController().signal)).rejects.toMatchObject({ message: distance });
  });

  it('reads the clock of the transaction that asks', async () => {
    const { guard } = guardOver({ machineMs: 0, databaseMs: 0 });
    await expect(guard.assertNear(async () => startMs + 30_000)).rejects.toThrow('30 s behind');
  });

  it('takes a reading that came late for no distance', () => {
    const { guard } = guardOver({ machineMs: 0, databaseMs: 900_000 });
    const late = { beforeMs: startMs, databaseMs: startMs + 450_000, afterMs: startMs + 900_000 };
    expect(() => guard.assertNearIn(late)).not.toThrow();
  });

  it('logs once that the clock is far off, and once that it is near again', async () => {
    const clocks = { machineMs: -30_000, databaseMs: 0 };
    const { guard, lines } = guardOver(clocks);
    const far = ['clock.far_off', { skew_ms: -30_000, skew_ms_max: 20_000 }];
    for (let nth = 0; nth < 3; nth += 1) await guard.isNear();
    expect(lines).toEqual([far]);
    clocks.machineMs = 0;
    for (let nth = 0; nth < 3; nth += 1) await guard.isNear();
    expect(lines).toEqual([far, ['clock.near_again']]);
    clocks.machineMs = -30_000;
    await guard.isNear();
    guard.noteNear();
    expect(lines).toEqual([far, ['clock.near_again'], far, ['clock.near_again']]);
  });
});
