import { describe, expect, it } from '@jest/globals';
import { Meter, PlanVersion } from '@countersign/contracts/commercial-gateway';
import fc from 'fast-check';
import { assembleInvoice, totalMinorMax } from '../src/billing/assemble-invoice.ts';
import { monthlyPeriod } from '../src/billing/period.ts';
import { planCatalog } from '../src/billing/plan-catalog.ts';
import { rateAddedUsage, rateUsage } from '../src/billing/rate-usage.ts';
import { microsPerUnit } from '../src/metering/micros.ts';
import { monthUnitsMax } from '../src/metering/month-limit.ts';

type Tiers = PlanVersion['meters'][number]['tiers'];

const planWith = (included: number, tiers: Tiers, currency = 'EUR') =>
  PlanVersion.parse({
    ...{ plan_id: 'test', version: 1, name: 'Test', currency, base_minor: 0, limits: {}, capabilities: [] },
    meters: [{ meter: 'tool_calls', included, tiers }],
  });

const decimals = fc
  .tuple(fc.integer({ min: 0, max: 999 }), fc.integer({ min: 0, max: 999_999 }))
  .map(([whole, fraction]) => `${whole}.${String(fraction).padStart(6, '0')}`);

/** Ascending tiers of at most 30 units each, so that the expected price can be computed unit by unit. */
const plans = fc
  .tuple(fc.nat(20), fc.array(fc.tuple(fc.integer({ min: 1, max: 30 }), decimals), { maxLength: 4 }), decimals)
  .map(([included, widths, last]) => {
    let end = 0;
    const tiers: Tiers = widths.map(([width, unit_amount_decimal]) => ({ up_to: (end += width), unit_amount_decimal }));
    return planWith(included, [...tiers, { up_to: null, unit_amount_decimal: last }]);
  });

/** Prices each unit separately, in millionths of a minor unit. */
function expectedMinor({ meters }: PlanVersion, units: number): bigint {
  const [{ included, tiers } = { included: 0, tiers: [] }] = meters;
  let micros = 0n;
  for (let unit = 1; unit <= units - included; unit += 1) {
    const tier = tiers.find(({ up_to }) => up_to === null || unit <= up_to);
    micros += BigInt((tier?.unit_amount_decimal ?? '').replace('.', ''));
  }
  const [whole, rest] = [micros / 1_000_000n, micros % 1_000_000n];
  return rest >= 500_000n ? whole + 1n : whole;
}

const amountOf = (plan: PlanVersion, micros: bigint) => rateUsage(plan, { tool_calls: micros }, null).totalMinor;

describe('rating', () => {
  it('equals the price counted unit by unit', () => {
    fc.assert(
      fc.property(plans, fc.nat(150), (plan, units) => {
        expect(amountOf(plan, BigInt(units) * microsPerUnit)).toBe(expectedMinor(plan, units));
      }),
    );
  });

  it('splits the whole quantity into the included amount and the tiers, and more usage never costs less', () => {
    fc.assert(
      fc.property(plans, fc.bigInt(1n, 10n ** 9n), fc.bigInt(0n, 10n ** 9n), (plan, micros, more) => {
        const [meter] = rateUsage(plan, { tool_calls: micros }, null).meters;
        const billed = (meter?.tiers ?? []).reduce((sum, { quantityMicros }) => sum + quantityMicros, 0n);
        expect((meter?.includedMicros ?? 0n) + billed).toBe(micros);
        expect(amountOf(plan, micros + more)).toBeGreaterThanOrEqual(amountOf(plan, micros));
      }),
    );
  });

  it.each([
    ['the last included unit is free', 10, 0n],
    ['the first unit after the included units is not free', 11, 100n],
    ['the last unit of a tier has the price of the tier', 15, 500n],
    ['the first unit of the next tier has the next price', 16, 507n],
  ])('%s', (_, units, minor) => {
    const plan = planWith(10, [
      { up_to: 5, unit_amount_decimal: '100' },
      { up_to: null, unit_amount_decimal: '7' },
    ]);
    expect(amountOf(plan, BigInt(units) * microsPerUnit)).toBe(minor);
  });

  it('is exact where binary floats are inexact, and rounds the sum once', () => {
    const cheap = planWith(0, [{ up_to: null, unit_amount_decimal: '0.000000000001' }]);
    expect(amountOf(cheap, 499_999_999_999n * microsPerUnit)).toBe(0n);
    expect(amountOf(cheap, 500_000_000_000n * microsPerUnit)).toBe(1n);
    const tenth = planWith(0, [{ up_to: null, unit_amount_decimal: '0.1' }]);
    expect(amountOf(tenth, 3n * microsPerUnit)).toBe(0n);
    expect(amountOf(tenth, 1_000_000_000_005n * microsPerUnit)).toBe(100_000_000_001n);
  });

  it.each(['JPY', 'CLP', 'KWD', 'EUR'])('a price in minor units of %s is never scaled by 100', (currency) => {
    const plan = planWith(0, [{ up_to: null, unit_amount_decimal: '5' }], currency);
    expect(amountOf(plan, 3n * microsPerUnit)).toBe(15n);
  });

  it('prorates included amounts, so that the parts of a period include as much as the whole period', () => {
    const period = monthlyPeriod(new Date('2026-04-01'), 0);
    const seconds = 30 * 86_400;
    fc.assert(
      fc.property(plans, fc.integer({ min: 1, max: seconds - 1 }), (plan, second) => {
        const cut = new Date(period.start.getTime() + second * 1_000);
        const pieces = [
          { start: period.start, end: cut },
          { start: cut, end: period.end },
        ];
        const usage = { tool_calls: 10n ** 9n };
        const rated = pieces.map((span) => rateUsage(plan, usage, { period, span }).meters[0]);
        const [whole] = rateUsage(plan, usage, { period, span: period }).meters;
        expect(whole).toEqual(rateUsage(plan, usage, null).meters[0]);
        const included = rated.reduce((sum, meter) => sum + (meter?.includedMicros ?? 0n), 0n);
        expect(included).toBe(whole?.includedMicros);
      }),
    );
  });

  it('never costs less in a shorter period for the same usage, because tiers are not prorated', () => {
    const period = monthlyPeriod(new Date('2026-04-01'), 0);
    const falling = planWith(100, [
      { up_to: 90_000, unit_amount_decimal: '0.2' },
      { up_to: null, unit_amount_decimal: '0.1' },
    ]);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 720 }), fc.bigInt(0n, 10n ** 6n), (hours, units) => {
        const span = { start: period.start, end: new Date(period.start.getTime() + hours * 3_600_000) };
        const usage = { tool_calls: units * microsPerUnit };
        const [short, whole] = [rateUsage(falling, usage, { period, span }), rateUsage(falling, usage, null)];
        expect(short.totalMinor >= whole.totalMinor).toBe(true);
      }),
    );
  });

  it('prices late usage exactly like usage that arrived in time', () => {
    fc.assert(
      fc.property(plans, fc.bigInt(0n, 10n ** 12n), fc.bigInt(1n, 10n ** 12n), (plan, billed, added) => {
        const late = rateAddedUsage(plan, { billed: { tool_calls: billed }, added: { tool_calls: added } }, null);
        const amounts = [billed, billed + added].map((quantity) => amountOf(plan, quantity));
        expect(late.totalMinor).toBe((amounts[1] ?? 0n) - (amounts[0] ?? 0n));
        const [line] = late.meters;
        const billable = line?.tiers.reduce((sum, { quantityMicros }) => sum + quantityMicros, 0n) ?? 0n;
        expect([line?.quantityMicros, (line?.includedMicros ?? 0n) + billable]).toEqual([added, added]);
      }),
    );
  });

  it('stays below the largest total for every plan of the catalogue with any accepted usage', () => {
    const most = 4n * monthUnitsMax * microsPerUnit;
    const usage = Object.fromEntries(Meter.options.map((meter) => [meter, most]));
    const period = monthlyPeriod(new Date('2026-04-01'), 0);
    for (const plan of planCatalog) {
      const { totalMinor } = assembleInvoice(plan, { period, span: period, usage, taxPercent: '100' });
      expect(totalMinor < totalMinorMax).toBe(true);
    }
  });

  it('reports a meter without a price at no cost', () => {
    const plan = planWith(0, [{ up_to: null, unit_amount_decimal: '5' }]);
    const { meters, totalMinor } = rateUsage(plan, { decisions: 7n * microsPerUnit }, null);
    expect(meters).toEqual([expect.objectContaining({ meter: 'decisions', amountMinor: 0n, tiers: [] })]);
    expect(totalMinor).toBe(0n);
  });
});

describe('plan versions', () => {
  it('self_hosted has every capability, no limit and no price', () => {
    const plan = planCatalog.find(({ plan_id }) => plan_id === 'self_hosted');
    expect(plan).toMatchObject({ currency: null, base_minor: 0, meters: [], limits: {} });
    const all = planCatalog.flatMap(({ capabilities }) => capabilities);
    expect(new Set(plan?.capabilities)).toEqual(new Set(all));
    expect(plan && rateUsage(plan, { tool_calls: 10n ** 15n }, null).totalMinor).toBe(0n);
  });

  const flat = { up_to: null, unit_amount_decimal: '1' };
  it.each<[string, object]>([
    ['a last tier with an end', { tiers: [{ ...flat, up_to: 5 }] }],
    ['tiers that do not rise', { tiers: [{ ...flat, up_to: 5 }, { ...flat, up_to: 5 }, flat] }],
    ['an open tier before the last', { tiers: [flat, flat] }],
    ['no tier', { tiers: [] }],
    ['a price with 13 decimal places', { tiers: [{ ...flat, unit_amount_decimal: '0.0000000000001' }] }],
    ['a price in exponent notation', { tiers: [{ ...flat, unit_amount_decimal: '1e2' }] }],
    ['a negative price', { tiers: [{ ...flat, unit_amount_decimal: '-1' }] }],
    ['a fractional included amount', { included: 0.5 }],
    ['an unknown member', { included_units: 5 }],
  ])('rejects %s', (_, change) => {
    const meter = { meter: 'seats', included: 0, tiers: [flat], ...change };
    expect(PlanVersion.safeParse({ ...planCatalog[1], meters: [meter] }).success).toBe(false);
  });

  it.each<[string, object]>([
    ['the same meter twice', { meters: planCatalog[1]?.meters.flatMap((meter) => [meter, meter]) }],
    ['a price without a currency', { currency: null }],
    ['a currency without a minor unit', { currency: 'XAU' }],
    ['a currency that does not exist', { currency: 'ABC' }],
  ])('rejects %s in a plan', (_, change) => {
    expect(PlanVersion.safeParse({ ...planCatalog[1], ...change }).success).toBe(false);
  });
});
