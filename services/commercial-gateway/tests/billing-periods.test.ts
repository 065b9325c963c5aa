import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { monthlyPeriod } from '../src/billing/period.ts';
import { prorate } from '../src/billing/prorate.ts';

const anchors = fc
  .integer({ min: Date.UTC(2024, 0, 1) / 1_000, max: Date.UTC(2032, 0, 1) / 1_000 })
  .map((seconds) => new Date(seconds * 1_000));
const amounts = fc.bigInt(0n, 10n ** 12n);

describe('monthly periods', () => {
  it.each([
    ['2027-01-31', ['2027-01-31', '2027-02-28', '2027-03-31', '2027-04-30']],
    ['2028-01-30', ['2028-01-30', '2028-02-29', '2028-03-30', '2028-04-30']],
    ['2026-11-15', ['2026-11-15', '2026-12-15', '2027-01-15', '2027-02-15']],
  ])('an anchor on %s keeps its day, or the last day of a shorter month', (anchor, starts) => {
    const days = starts.map((_, index) => monthlyPeriod(new Date(anchor), index).start.toISOString().slice(0, 10));
    expect(days).toEqual(starts);
  });

  it('have no gap and no overlap', () => {
    fc.assert(
      fc.property(anchors, fc.nat(60), (anchor, index) => {
        const [period, next] = [monthlyPeriod(anchor, index), monthlyPeriod(anchor, index + 1)];
        expect(period.end).toEqual(next.start);
        expect(period.start < period.end).toBe(true);
      }),
    );
  });
});

describe('proration', () => {
  it('gives consecutive parts that add up to the whole amount, each within one minor unit of its exact share', () => {
    const cuts = fc.array(fc.integer({ min: 0, max: 9_999 }), { maxLength: 6 });
    fc.assert(
      fc.property(anchors, amounts, cuts, (anchor, amount, shares) => {
        const period = monthlyPeriod(anchor, 0);
        const length = (period.end.getTime() - period.start.getTime()) / 1_000;
        const seconds = [
          0,
          ...shares.map((share) => Math.floor((share * length) / 10_000)).toSorted((a, b) => a - b),
          length,
        ];
        const timeAt = (second: number) => new Date(period.start.getTime() + second * 1_000);
        const deps = seconds.slice(1).map((end, index) => {
          const start = seconds[index] ?? 0;
          const share = prorate(amount, { period, span: { start: timeAt(start), end: timeAt(end) } });
          const difference = share * BigInt(length) - amount * BigInt(end - start);
          expect(difference < BigInt(length) && difference > -BigInt(length)).toBe(true);
          return share;
        });
        expect(deps.reduce((sum, share) => sum + share, 0n)).toBe(amount);
      }),
    );
  });

  it('counts seconds: one second of a 30-day month of 25,920.00 EUR costs one cent', () => {
    const period = { start: new Date('2026-04-01'), end: new Date('2026-05-01') };
    const span = { start: period.start, end: new Date('2026-04-01T00:00:01.000Z') };
    expect(prorate(2_592_000n, { period, span })).toBe(1n);
    expect(prorate(1_296_000n, { period, span })).toBe(1n);
    expect(prorate(1_295_999n, { period, span })).toBe(0n);
  });

  it('rejects a part outside its period', () => {
    const period = monthlyPeriod(new Date('2026-04-01'), 0);
    expect(() => prorate(1n, { period, span: { start: period.start, end: new Date('2026-05-02') } })).toThrow('inside');
    expect(() => prorate(1n, { period, span: { start: period.end, end: period.start } })).toThrow('inside');
  });
});
