import { describe, expect, it } from '@jest/globals';
import type { Instant } from '@countersign/contracts';
import type { Log } from '@countersign/service-kit';
import { LedgerClockGuard } from '../src/ledger/clock-guard.ts';
import { refusalTo } from './_ledger.ts';

const startMs = Date.parse('2026-11-24T10:00:00.000Z');
const at = (afterMs: number) => new Date(startMs + afterMs).toISOString() as Instant; // matches the schema

/** A guard whose clocks show these times, in milliseconds after `startMs`. */
function guardOver({ machineMs, workMs = machineMs }: { machineMs: number; workMs?: number }) {
  return new LedgerClockGuard({
    clock: () => new Date(startMs + workMs),
    machineClock: () => new Date(startMs + machineMs),
    readDatabaseMs: async () => startMs,
    log: { error: () => undefined } as Partial<Log> as Log, // the guard logs nothing but errors
  });
}

describe('the clock guard of a kernel', () => {
  it('refuses with RECEIPT_STORE_UNAVAILABLE and reports how far the clock is off', async () => {
    const message =
      "The clock of this kernel is 600 s ahead of the database's, so nothing is sealed, and nothing was executed";
    const refusal = await refusalTo(guardOver({ machineMs: 600_000 }).assertNear());
    expect(refusal).toMatchObject({ code: 'RECEIPT_STORE_UNAVAILABLE', message });
  });

  const grown = (from: number | null, to: number) => ({
    from: { issuedAt: from === null ? null : at(from) },
    to: { issuedAt: at(to) },
  });
  it.each<[string, ReturnType<typeof grown>[], number]>([
    ['the clock', [], 0],
    ['the clock, if the receipts are older', [grown(null, -90_000), grown(-60_000, -50_000)], 0],
    ['the latest time of the chains', [grown(null, 30_000), grown(-10, 90_000), grown(0, 60_000)], 90_000],
    ['the clock, if a chain was ahead before', [grown(900_000, 900_000)], 0],
    ['the time of a chain that moved further ahead', [grown(900_000, 900_001)], 900_001],
  ])('has the database check this time: %s', (_what, chains, datedMs) => {
    expect(guardOver({ machineMs: 0 }).datedMs(chains) - startMs).toBe(datedMs);
  });

  it('converts times of a moved kernel clock to machine time', () => {
    const guard = guardOver({ machineMs: 0, workMs: 86_400_000 });
    expect(guard.datedMs([grown(null, 86_400_000)]) - startMs).toBe(0);
    expect(guard.datedMs([grown(null, 86_430_000)]) - startMs).toBe(30_000);
  });
});
