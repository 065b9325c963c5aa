import { decimalOfMinor, minorDigitsOf, minorOfDecimal } from '@countersign/contracts';

const locale = 'en-GB';

/** The exact amount with its currency: `€4,180.00`. Amounts are never doubles, which are inexact above 2^53. */
export function moneyOf(minor: string | number, currency: string): string {
  const digits = minorDigitsOf(currency) ?? 0;
  return formatted(decimalOfMinor(BigInt(minor), currency), {
    ...{ style: 'currency', currency, currencyDisplay: 'narrowSymbol' },
    ...{ minimumFractionDigits: digits, maximumFractionDigits: digits },
  });
}

/** Decimal places of a quantity that a meter counts. */
const quantityDigits = 6;

/** A count with separators of thousands: `138,204`. */
export function quantityOf(quantity: string | number): string {
  return formatted(String(quantity), { maximumFractionDigits: quantityDigits });
}

function formatted(decimal: string, options: Intl.NumberFormatOptions): string {
  return new Intl.NumberFormat(locale, options).format(decimal as Intl.StringNumericLiteral); // decimal digits, formatted exactly
}

const perWords = [
  { units: 0, says: 'each' },
  { units: 3, says: 'a thousand' },
  { units: 6, says: 'a million' },
] as const;
/** Decimal places of a price of one unit. */
const priceDigits = 12;

/**
 * The price of one unit, shown for 1, 1,000 or 1,000,000 units: the first number that costs whole minor units. In EUR,
 * `0.2` is `€2.00 a thousand`. Smaller prices are shown in minor units.
 */
export function priceOf(unitAmountDecimal: string, currency: string): string {
  const [whole = '0', fraction = ''] = unitAmountDecimal.split('.');
  const scaled = BigInt(whole + fraction.padEnd(priceDigits, '0'));
  const scale = 10n ** BigInt(priceDigits);
  for (const { units, says } of perWords) {
    const price = scaled * 10n ** BigInt(units);
    if (price % scale === 0n) return `${moneyOf(String(price / scale), currency)} ${says}`;
  }
  return `${unitAmountDecimal} minor units of ${currency} each`;
}

/** The used share of `limit` in whole percent, at most 100. `limit` is above zero, and `used` may have a fraction. */
export function percentOf(used: string, limit: number): number {
  const [whole = '0'] = used.split('.');
  const percent = (BigInt(whole) * 100n) / BigInt(limit);
  return Number(percent > 100n ? 100n : percent);
}

/** Subtracts `less` from `from`, exactly. All amounts are whole minor units. */
export function minorLess(from: string, ...less: readonly string[]): string {
  return String(less.reduce((rest, amount) => rest - BigInt(amount), BigInt(from)));
}

/**
 * The minor units of an amount that a person typed. `null` when the text is not an amount above zero, or when the
 * currency is unknown.
 */
export function minorOfText(amount: string, currency: string): number | null {
  try {
    const minor = Number(minorOfDecimal(amount, currency));
    return Number.isSafeInteger(minor) && minor > 0 ? minor : null;
  } catch {
    return null;
  }
}
