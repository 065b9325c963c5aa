import type { Meter, PlanVersion, PriceTier } from '@countersign/contracts/commercial-gateway';
import { microsPerUnit } from '../metering/micros.ts';
import { divideHalfUp, priceDigits, scaledOfDecimal } from './decimal.ts';
import { prorate, type PartOfPeriod } from './prorate.ts';

/** Total quantity per meter, in millionths. */
export type Usage = Readonly<Partial<Record<Meter, bigint>>>;

type RatedTier = { upTo: number | null; unitAmountDecimal: string; quantityMicros: bigint };

export type RatedMeter = {
  meter: Meter;
  quantityMicros: bigint;
  /** Quantity that the plan includes at no cost. */
  includedMicros: bigint;
  /** Billable quantity by tier. Tiers without quantity are omitted. */
  tiers: RatedTier[];
  amountMinor: bigint;
};

type RatedUsage = { meters: RatedMeter[]; totalMinor: bigint };

/**
 * Prices the usage of one period. All pages and invoices use this function, so they show the same amounts. The first
 * `included` units are free. Graduated tiers price the rest. The exact sum of a meter is rounded once, half up. `span`
 * prorates included amounts, so that a plan change in mid-period does not grant them twice. A `span` of `null` is a
 * whole period. Tier limits are never prorated: a short subscription reaches a cheaper tier by quantity only.
 */
export function rateUsage(
  { meters: prices }: Pick<PlanVersion, 'meters'>,
  usage: Usage,
  span: PartOfPeriod | null,
): RatedUsage {
  const priced = new Map(prices.map((price) => [price.meter, price]));
  const meters = Object.entries(usage)
    .map(([meter, quantityMicros]) => ({ meter: meter as Meter, quantityMicros })) // the keys of Usage are meters
    .filter(({ quantityMicros }) => quantityMicros > 0n)
    .map(({ meter, quantityMicros }) => rateMeter({ meter, quantityMicros }, priced.get(meter) ?? null, span))
    .toSorted((a, b) => (a.meter < b.meter ? -1 : 1));
  return { meters, totalMinor: meters.reduce((total, { amountMinor }) => total + amountMinor, 0n) };
}

/**
 * Prices usage that arrived after a period was billed. The price is the difference between the period with and without
 * this usage. The usage therefore first fills the included units and tiers that the period left unused.
 */
export function rateAddedUsage(
  plan: Pick<PlanVersion, 'meters'>,
  { billed, added }: { billed: Usage; added: Usage },
  span: PartOfPeriod | null,
): RatedUsage {
  const before = new Map(rateUsage(plan, billed, span).meters.map((rated) => [rated.meter, rated]));
  const after = rateUsage(plan, totalOf(billed, added), span).meters;
  const meters = after.map((rated) => differenceOf(rated, before.get(rated.meter) ?? null));
  const changed = meters.filter(({ quantityMicros }) => quantityMicros > 0n);
  return { meters: changed, totalMinor: changed.reduce((total, { amountMinor }) => total + amountMinor, 0n) };
}

function totalOf(billed: Usage, added: Usage): Usage {
  const entries = Object.entries(added).map(([meter, quantityMicros]): [string, bigint] => [
    meter,
    quantityMicros + (billed[meter as Meter] ?? 0n), // the keys of Usage are meters
  ]);
  return { ...billed, ...Object.fromEntries(entries) };
}

function differenceOf(after: RatedMeter, before: RatedMeter | null): RatedMeter {
  if (before === null) return after;
  const quantityIn = (upTo: number | null) => before.tiers.find((tier) => tier.upTo === upTo)?.quantityMicros ?? 0n;
  return {
    meter: after.meter,
    quantityMicros: after.quantityMicros - before.quantityMicros,
    includedMicros: after.includedMicros - before.includedMicros,
    tiers: after.tiers
      .map((tier) => ({ ...tier, quantityMicros: tier.quantityMicros - quantityIn(tier.upTo) }))
      .filter(({ quantityMicros }) => quantityMicros > 0n),
    amountMinor: after.amountMinor - before.amountMinor,
  };
}

type MeterPrice = { included: number; tiers: readonly PriceTier[] };

function rateMeter(
  { meter, quantityMicros }: { meter: Meter; quantityMicros: bigint },
  price: MeterPrice | null,
  span: PartOfPeriod | null,
): RatedMeter {
  if (price === null) return { meter, quantityMicros, includedMicros: quantityMicros, tiers: [], amountMinor: 0n };
  const included = includedIn(price.included, span);
  const includedMicros = quantityMicros < included ? quantityMicros : included;
  const tiers = tiersOf(price.tiers, quantityMicros - includedMicros);
  const exact = tiers.reduce(
    (sum, { quantityMicros: quantity, unitAmountDecimal }) =>
      sum + quantity * scaledOfDecimal(unitAmountDecimal, priceDigits),
    0n,
  );
  const amountMinor = divideHalfUp(exact, microsPerUnit * 10n ** BigInt(priceDigits));
  return { meter, quantityMicros, includedMicros, tiers, amountMinor };
}

/** Splits the billable quantity by tier. */
function tiersOf(tiers: readonly PriceTier[], billableMicros: bigint): RatedTier[] {
  let below = 0n;
  return tiers.flatMap(({ up_to: upTo, unit_amount_decimal: unitAmountDecimal }) => {
    const limit = upTo === null ? billableMicros : BigInt(upTo) * microsPerUnit;
    const end = billableMicros < limit ? billableMicros : limit;
    const quantityMicros = end - below;
    if (quantityMicros <= 0n) return [];
    below = end;
    return [{ upTo, unitAmountDecimal, quantityMicros }];
  });
}

/** Prorates the included units of a whole period. Returns millionths of the unit. */
function includedIn(units: number, span: PartOfPeriod | null): bigint {
  const micros = BigInt(units) * microsPerUnit;
  return span === null ? micros : prorate(micros, span);
}
