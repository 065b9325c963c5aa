/** Decimal places of a unit price, as in Stripe's `unit_amount_decimal`. */
export const priceDigits = 12;

/**
 * Returns the decimal string as an integer scaled by 10^digits. Throws RangeError when the text is not a decimal, or
 * has more decimal places.
 */
export function scaledOfDecimal(decimal: string, digits: number): bigint {
  const [, whole = '', fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(decimal) ?? [];
  if (whole === '' || fraction.length > digits)
    throw new RangeError(`The price ${decimal} must be a decimal with at most ${digits} decimal places`);
  return BigInt(whole + fraction.padEnd(digits, '0'));
}

/** Returns the quotient rounded to the nearest integer. A half is rounded up. Neither number may be negative. */
export function divideHalfUp(numerator: bigint, denominator: bigint): bigint {
  if (numerator < 0n || denominator <= 0n) throw new RangeError('A negative amount cannot be rounded half up');
  return (2n * numerator + denominator) / (2n * denominator);
}
