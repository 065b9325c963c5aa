import { describe, expect, it } from '@jest/globals';
import { AppError } from '@countersign/contracts';
import fc from 'fast-check';
import { ClockGuard, clockSkewMaxMs, type Log } from '../src/index.ts';
import { sureSkewMs } from '../src/clock-skew.ts';

const startMs = Date.parse('2026-11-24T10:00:00.000Z');
const skew = fc.integer({ min: -1e9, max: 1e9 });
const latency = fc.integer({ min: 0, max: 1e9 });

describe('the certain part of a clock’s distance', () => {
  it.each<[string, { beforeMs: number; databaseMs: number; afterMs: number }, number]>([
    ['zero if the time of the database is within the reading', { beforeMs: 0, databaseMs: 5, afterMs: 10 }, 0],
    ['zero if the time of the database is an end of the reading', { beforeMs: 5, databaseMs: 5, afterMs: 5 }, 0],
    ['zero for a reading of any duration', { beforeMs: 0, databaseMs: 900_000, afterMs: 900_000 }, 0],
    [
      'ahead if the reading began after the time of the database',
      { beforeMs: 30, databaseMs: 10, afterMs: 900_000 },
      20,
    ],
    [
      'behind if the reading ended before the time of the database',
      { beforeMs: -900_000, databaseMs: 10, afterMs: -20 },
      -30,
    ],
    ['ahead if the clock was set back during the reading', { beforeMs: 30, databaseMs: 10, afterMs: 0 }, 20],
  ])('is %s', (_what, reading, sure) => {
    expect(sureSkewMs(reading)).toBe(sure);
  });

  it('never exceeds the distance, does not grow with latency, and equals the distance without latency', () => {
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

  it('is lower between two services than the difference that the verifier accepts between a receipt and a checkpoint', () => {
    expect(2 * clockSkewMaxMs).toBeLessThan(60_000);
  });
});

/** A guard with clocks that a test sets, in milliseconds from the start. It collects log lines. */
function guardOver(clocks: { machineMs: number; databaseMs: number; monotonicMs?: number }) {
  const lines: unknown[] = [];
  let readings = 0;
  const log = {
    error: (event, fields) => void lines.push([event, fields]),
    info: (event) => void lines.push([event]),
  } as Partial<Log> as Log; // the guard logs nothing else
  const guard = new ClockGuard({
    machineClock: () => new Date(startMs + clocks.machineMs),
    monotonicMs: () => clocks.monotonicMs ?? 0,
    readDatabaseMs: async () => {
      readings += 1;
      return startMs + clocks.databaseMs;
    },
    refusal: (distance) => new AppError('STORE_UNAVAILABLE', distance),
    log,
  });
  return { guard, lines, readings: () => readings };
}

describe('the guard of the clock', () => {
  it.each([
    [20_000, null],
    [-20_000, null],
    [20_001, "20 s ahead of the database's"],
    [-20_001, "20 s behind the database's"],
    [600_000, "600 s ahead of the database's"],
  ])('reports a clock %d ms away as: %s', async (machineMs, distance) => {
    const { guard } = guardOver({ machineMs, databaseMs: 0 });
    expect(await guard.isNear()).toBe(distance === null);
    const asserted = guard.assertNear();
    if (distance === null) return await expect(asserted).resolves.toBeUndefined();
    await expect(asserted).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', message: distance });
    await expect(guard.check(new AbortController().signal)).rejects.toMatchObject({ message: distance });
  });

  it('uses the clock of the calling transaction', async () => {
    const { guard } = guardOver({ machineMs: 0, databaseMs: 0 });
    await expect(guard.assertNear(async () => startMs + 30_000)).rejects.toThrow('30 s behind');
  });

  it('accepts a slow reading if the database time lies between its start and its end', () => {
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

  it('reads the database only once in five seconds for repeated work', async () => {
    const clocks = { machineMs: 0, databaseMs: 0, monotonicMs: 0 };
    const { guard, readings } = guardOver(clocks);
    for (const passedMs of [0, 1_000, 4_999]) {
      Object.assign(clocks, { machineMs: passedMs, databaseMs: passedMs, monotonicMs: passedMs });
      expect([await guard.isNear(), readings()]).toEqual([true, 1]);
    }
    Object.assign(clocks, { machineMs: 5_000, databaseMs: 5_000, monotonicMs: 5_000 });
    expect([await guard.isNear(), readings()]).toEqual([true, 2]);
    await guard.assertNear();
    expect(readings()).toBe(3);
  });

  it.each([30_000, -30_000])('detects at once that the machine’s clock was changed by %d ms', async (ms) => {
    const clocks = { machineMs: 0, databaseMs: 0, monotonicMs: 0 };
    const { guard } = guardOver(clocks);
    expect(await guard.isNear()).toBe(true);
    clocks.machineMs = ms;
    expect(await guard.isNear()).toBe(false);
    clocks.machineMs = 0;
    expect(await guard.isNear()).toBe(true);
  });

  it('ignores readings from before a request found the clock far off', async () => {
    const clocks = { machineMs: 0, databaseMs: 0, monotonicMs: 0 };
    const { guard } = guardOver(clocks);
    expect(await guard.isNear()).toBe(true);
    clocks.databaseMs = 30_000;
    await expect(guard.assertNear()).rejects.toThrow('30 s behind');
    guard.noteNear();
    expect(await guard.isNear()).toBe(false);
  });
});
