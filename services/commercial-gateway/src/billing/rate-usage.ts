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
 * Prices the usage of one period. All pages and invoices use this function, so that they cannot show different amounts.
 * The first `included` units are free; graduated tiers price the rest. The exact sum of a meter is rounded once, half up.
 * `span` prorates included amounts and tiers, so that a plan change in mid-period does not grant them twice. `null` is a whole period.
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
    .toSorted((one, other) => (one.meter < other.meter ? -1 : 1));
  return { meters, totalMinor: meters.reduce((total, { amountMinor }) => total + amountMinor, 0n) };
}

type MeterPrice = { included: number; tiers: readonly PriceTier[] };

function rateMeter(
  { meter, quantityMicros }: { meter: Meter; quantityMicros: bigint },
  price: MeterPrice | null,
  span: PartOfPeriod | null,
): RatedMeter {
  if (price === null) return { meter, quantityMicros, includedMicros: quantityMicros, tiers: [], amountMinor: 0n };
  const included = microsOf(price.included, span);
  const includedMicros = quantityMicros < included ? quantityMicros : included;
  const tiers = tiersOf(price.tiers, quantityMicros - includedMicros, span);
  const exact = tiers.reduce(
    (sum, { quantityMicros: quantity, unitAmountDecimal }) =>
      sum + quantity * scaledOfDecimal(unitAmountDecimal, priceDigits),
    0n,
  );
  const amountMinor = divideHalfUp(exact, microsPerUnit * 10n ** BigInt(priceDigits));
  return { meter, quantityMicros, includedMicros, tiers, amountMinor };
}

/** Splits the billable quantity by tier. */
function tiersOf(tiers: readonly PriceTier[], billableMicros: bigint, span: PartOfPeriod | null): RatedTier[] {
  let below = 0n;
  return tiers.flatMap(({ up_to: upTo, unit_amount_decimal: unitAmountDecimal }) => {
    const limit = upTo === null ? billableMicros : microsOf(upTo, span);
    const end = billableMicros < limit ? billableMicros : limit;
    const quantityMicros = end - below;
    if (quantityMicros <= 0n) return [];
    below = end;
    return [{ upTo, unitAmountDecimal, quantityMicros }];
  });
}

/** A number of units of a whole period, in millionths of the unit, for the part of the period. */
function microsOf(units: number, span: PartOfPeriod | null): bigint {
  const micros = BigInt(units) * microsPerUnit;
  return span === null ? micros : prorate(micros, span);
}
