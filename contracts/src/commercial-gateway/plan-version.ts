import { z } from 'zod';
import { minorDigitsOf } from '../currencies.ts';
import { AmountMinor, Currency } from '../scalars.ts';
import { Meter } from './meter.ts';
import { BillingPlanId, PlanCapabilities, PlanLimits, PlanVersionNumber } from './plan-terms.ts';

/**
 * Price of one unit in minor units of the currency, with at most 12 decimal places. It is a string, because floats are
 * inexact.
 */
const UnitAmountDecimal = z
  .string()
  .regex(/^(0|[1-9]\d{0,11})(\.\d{1,12})?$/, 'must be a decimal string such as 0.25, with at most 12 decimal places');

const quantityMax = 1_000_000_000_000;
const tiersMax = 20;

const PriceTier = z.strictObject({
  /** Last unit of the tier, counted from the first unit after the included amount. `null` in the last tier. */
  up_to: z.int().min(1).max(quantityMax).nullable(),
  unit_amount_decimal: UnitAmountDecimal,
});
export type PriceTier = z.infer<typeof PriceTier>;

/** Graduated: each tier prices only the units that fall into it. */
const GraduatedTiers = z
  .array(PriceTier)
  .min(1)
  .max(tiersMax)
  .refine((tiers) => tiers.at(-1)?.up_to === null, 'must end with a tier whose up_to is null')
  .refine((tiers) => tiers.every(isAboveTierBefore), 'must have rising up_to values, and null only in the last tier');

function isAboveTierBefore({ up_to }: PriceTier, index: number, tiers: readonly PriceTier[]): boolean {
  const before = tiers[index - 1];
  if (before === undefined) return true;
  return before.up_to !== null && (up_to === null || up_to > before.up_to);
}

const PlanMeter = z.strictObject({
  meter: Meter,
  /** Units per period that cost nothing. */
  included: z.int().min(0).max(quantityMax),
  tiers: GraduatedTiers,
});

/** A plan at one version. A version never changes: a new price is a new version. */
export const PlanVersion = z
  .strictObject({
    plan_id: BillingPlanId,
    version: PlanVersionNumber,
    name: z.string().min(1).max(128),
    /** `null` when the plan has no price. */
    currency: Currency.refine(
      (code) => minorDigitsOf(code) !== null,
      'must be a currency that has a minor unit',
    ).nullable(),
    /** Price of one monthly period without usage, in minor units. */
    base_minor: AmountMinor,
    /** Meters without an entry are counted and cost nothing. */
    meters: z.array(PlanMeter).max(Meter.options.length),
    /** Limits without an entry do not apply. */
    limits: PlanLimits,
    capabilities: PlanCapabilities,
  })
  .refine(({ meters }) => new Set(meters.map(({ meter }) => meter)).size === meters.length, {
    path: ['meters'],
    message: 'must name each meter at most once',
  })
  .refine(({ currency, base_minor, meters }) => currency !== null || (base_minor === 0 && meters.length === 0), {
    path: ['currency'],
    message: 'must be set when the plan has a base price or a metered price',
  });
export type PlanVersion = z.infer<typeof PlanVersion>;
