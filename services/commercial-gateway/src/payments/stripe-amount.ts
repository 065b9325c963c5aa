import { minorDigitsOf } from '@countersign/contracts';

/**
 * Decimal places of amounts at Stripe, where they differ from ISO 4217. Stripe uses none for the Malagasy ariary, and
 * two for currencies that no longer have any.
 */
const stripeDigits: ReadonlyMap<string, number> = new Map([
  ['MGA', 0],
  ['ISK', 2],
  ['UGX', 2],
]);

/** Stripe accepts amounts with three decimal places only in multiples of ten. */
const stepOfThreeDigits = 10n;

/** Returns the amount in the unit of Stripe. `null` when Stripe cannot express the amount. */
export function stripeAmountOf(amountMinor: bigint, currency: string): number | null {
  const digits = minorDigitsOf(currency);
  if (digits === null) return null;
  const scaled = scale(amountMinor, (stripeDigits.get(currency) ?? digits) - digits);
  if (scaled === null || (digits === 3 && scaled % stepOfThreeDigits !== 0n)) return null;
  return scaled <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(scaled) : null;
}

/** Returns an amount of Stripe in minor units of ISO 4217. `null` when minor units cannot express the amount. */
export function minorOfStripeAmount(amount: number, currency: string): bigint | null {
  const digits = minorDigitsOf(currency);
  if (digits === null || !Number.isSafeInteger(amount) || amount < 0) return null;
  return scale(BigInt(amount), digits - (stripeDigits.get(currency) ?? digits));
}

function scale(amount: bigint, digits: number): bigint | null {
  if (digits >= 0) return amount * 10n ** BigInt(digits);
  const divisor = 10n ** BigInt(-digits);
  return amount % divisor === 0n ? amount / divisor : null;
}
