import { describe, expect, it } from '@jest/globals';
import type { Instant } from '@countersign/contracts';
import type { Log } from '@countersign/service-kit';
import fc from 'fast-check';
import { ClockGuard } from '../src/ledger/clock-guard.ts';
import { clockSkewMaxMs, sureSkewMs } from '../src/ledger/clock-skew.ts';
import { refusalTo } from './_ledger.ts';

const startMs = Date.parse('2026-11-24T10:00:00.000Z');
const at = (afterMs: number) => new Date(startMs + afterMs).toISOString() as Instant; // within its schema
const skew = fc.integer({ min: -1e9, max: 1e9 });
const latency = fc.integer({ min: 0, max: 1e9 });

describe('what is sure of a clock’s distance', () => {
  it.each<[string, { beforeMs: number; databaseMs: number; afterMs: number }, number]>([
    ['none within the reading', { beforeMs: 0, databaseMs: 5, afterMs: 10 }, 0],
    ['none at either end of it', { beforeMs: 5, databaseMs: 5, afterMs: 5 }, 0],
    ['none however long the reading took', { beforeMs: 0, databaseMs: 900_000, afterMs: 900_000 }, 0],
    ['ahead by what it showed before', { beforeMs: 30, databaseMs: 10, afterMs: 900_000 }, 20],
    ['behind by what it showed after', { beforeMs: -900_000, databaseMs: 10, afterMs: -20 }, -30],
    ['ahead, where it was put right meanwhile', { beforeMs: 30, databaseMs: 10, afterMs: 0 }, 20],
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

  it('leaves less between two kernels than the public verifier takes between a receipt and a checkpoint', () => {
    expect(2 * clockSkewMaxMs).toBeLessThan(60_000);
  });
});

/** A guard over clocks that a test sets, in milliseconds from the start; it keeps what is logged. */
function guardOver(clocks: { machineMs: number; databaseMs: number; workMs?: number }) {
  const told: unknown[] = [];
  const log = {
    error: (event, fields) => void told.push([event, fields]),
    info: (event) => void told.push([event]),
  } as Partial<Log> as Log; // nothing else is logged
  const guard = new ClockGuard({
    clock: () => new Date(startMs + (clocks.workMs ?? clocks.machineMs)),
    machineClock: () => new Date(startMs + clocks.machineMs),
    readDatabaseMs: async () => startMs + clocks.databaseMs,
    log,
  });
  return { guard, told };
}

describe('the guard of the clock', () => {
  it.each([
    [20_000, null],
    [-20_000, null],
    [20_001, 'The clock of this kernel is 20 s ahead of the database’s'],
    [-20_001, 'The clock of this kernel is 20 s behind the database’s'],
    [600_000, 'The clock of this kernel is 600 s ahead of the database’s'],
  ])('holds it %d ms away: %s', async (machineMs, refused) => {
    const { guard } = guardOver({ machineMs, databaseMs: 0 });
    if (refused === null) return await expect(guard.assertNear()).resolves.toBeUndefined();
    const message = `${refused.replace('’', "'")}, so nothing is sealed, and nothing was executed`;
    expect(await refusalTo(guard.assertNear())).toMatchObject({ code: 'RECEIPT_STORE_UNAVAILABLE', message });
  });

  it('takes a reading that came late for no distance', async () => {
    const clocks = { machineMs: 0, databaseMs: 900_000 };
    const { guard } = guardOver(clocks);
    const late = { beforeMs: startMs, databaseMs: startMs + 450_000, afterMs: startMs + 900_000 };
    expect(() => guard.assertNearIn(late)).not.toThrow();
  });

  it('tells once that the clock is far off, and once that it is near again', async () => {
    const clocks = { machineMs: -30_000, databaseMs: 0 };
    const { guard, told } = guardOver(clocks);
    const far = ['clock.far_off', { skew_ms: -30_000, skew_ms_max: 20_000 }];
    for (let nth = 0; nth < 3; nth += 1) await refusalTo(guard.assertNear());
    expect(told).toEqual([far]);
    clocks.machineMs = 0;
    for (let nth = 0; nth < 3; nth += 1) await guard.assertNear();
    expect(told).toEqual([far, ['clock.near_again']]);
    clocks.machineMs = -30_000;
    await refusalTo(guard.assertNear());
    guard.noteNear();
    expect(told).toEqual([far, ['clock.near_again'], far, ['clock.near_again']]);
  });

  const grown = (from: number | null, to: number) => ({
    from: { issuedAt: from === null ? null : at(from) },
    to: { issuedAt: at(to) },
  });
  it.each<[string, ReturnType<typeof grown>[], number]>([
    ['the clock', [], 0],
    ['the clock, where what is sealed was dated before', [grown(null, -90_000), grown(-60_000, -50_000)], 0],
    ['the latest to which a chain is moved', [grown(null, 30_000), grown(-10, 90_000), grown(0, 60_000)], 90_000],
    ['the clock, where a chain had been ahead before', [grown(900_000, 900_000)], 0],
    ['what goes beyond a chain that had been ahead', [grown(900_000, 900_001)], 900_001],
  ])('has the database look at %s', (_what, chains, datedMs) => {
    expect(guardOver({ machineMs: 0, databaseMs: 0 }).guard.datedMs(chains) - startMs).toBe(datedMs);
  });

  it('holds the clock of the machine, where a test moves the one that the kernel goes by', () => {
    const { guard } = guardOver({ machineMs: 0, databaseMs: 0, workMs: 86_400_000 });
    expect(guard.datedMs([grown(null, 86_400_000)]) - startMs).toBe(0);
    expect(guard.datedMs([grown(null, 86_430_000)]) - startMs).toBe(30_000);
  });
});
