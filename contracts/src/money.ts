import { z } from 'zod';
import { minorDigitsOf } from './currencies.ts';

/** Spend is counted in millionths of a minor unit, since a call of a few tokens costs less than a cent. */
export const microsPerMinor = 1_000_000n;

/**
 * An exact amount of money, in millionths of a minor unit. It is a string, since JSON numbers are exact only up to
 * 2^53.
 */
export const SpendMicros = z.string().regex(/^(0|[1-9][0-9]{0,18})$/, 'must be a whole number without a sign');

export function microsOf(minor: number): bigint {
  return BigInt(minor) * microsPerMinor;
}

/** Usage in whole minor units, rounded up, for people. */
export function minorTaken(micros: bigint): number {
  return Number((micros + microsPerMinor - 1n) / microsPerMinor);
}

/** A remainder in whole minor units, rounded down, for people. */
export function minorLeft(micros: bigint): number {
  const whole = micros / microsPerMinor;
  return Number(micros < 0n && whole * microsPerMinor !== micros ? whole - 1n : whole);
}

/**
 * The amount in major units, with the decimal places of its currency: 1234 is `12.34` in EUR, `1234` in JPY and `1.234`
 * in KWD. Throws RangeError for a currency without a minor unit.
 */
export function decimalOfMinor(amountMinor: bigint, currency: string): string {
  const digits = requireMinorDigits(currency);
  const sign = amountMinor < 0n ? '-' : '';
  const text = (amountMinor < 0n ? -amountMinor : amountMinor).toString().padStart(digits + 1, '0');
  const whole = text.slice(0, text.length - digits);
  return digits === 0 ? `${sign}${whole}` : `${sign}${whole}.${text.slice(-digits)}`;
}

/** The inverse of decimalOfMinor(). Throws RangeError for a text with more decimal places than its currency has. */
export function minorOfDecimal(decimal: string, currency: string): bigint {
  const digits = requireMinorDigits(currency);
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(0|[1-9]\d{0,17})(?:\.(\d+))?$/.exec(decimal) ?? [];
  if (whole === '') throw new RangeError('The amount must be a decimal string such as 12.34');
  if (fraction.length > digits)
    throw new RangeError(`${currency} has ${digits} decimal places, not ${fraction.length}`);
  return BigInt(`${sign}${whole}${fraction.padEnd(digits, '0')}`);
}

function requireMinorDigits(currency: string): number {
  const digits = minorDigitsOf(currency);
  if (digits === null) throw new RangeError(`${currency} has no minor unit`);
  return digits;
}
