import { z } from 'zod';

/** Spend is counted in millionths of a minor unit: a call of a few tokens costs less than a cent, and counts as what it costs. */
export const microsPerMinor = 1_000_000n;

/** An exact amount of money, in millionths of a minor unit. A text, since JSON numbers stop counting at 2^53. */
export const SpendMicros = z.string().regex(/^(0|[1-9][0-9]{0,18})$/, 'must be a whole number without a sign');

export function microsOf(minor: number): bigint {
  return BigInt(minor) * microsPerMinor;
}

/** In whole minor units, for people. What was taken is rounded up. */
export function minorTaken(micros: bigint): number {
  return Number((micros + microsPerMinor - 1n) / microsPerMinor);
}

/** In whole minor units, for people. What is left is rounded down. */
export function minorLeft(micros: bigint): number {
  const whole = micros / microsPerMinor;
  return Number(micros < 0n && whole * microsPerMinor !== micros ? whole - 1n : whole);
}
