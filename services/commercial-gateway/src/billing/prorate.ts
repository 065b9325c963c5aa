import { divideHalfUp } from './decimal.ts';
import type { Period } from './period.ts';

/**
 * The share of `amountMinor` for a part of a period, by second. The amount due from the start of the period to each end of the part is
 * rounded half up, and the share is the difference. Consecutive parts therefore add up to the whole amount.
 */
export function prorate(amountMinor: bigint, { period, part }: { period: Period; part: Period }): bigint {
  if (part.start < period.start || part.end > period.end || part.end < part.start)
    throw new RangeError('The part must be inside the period');
  const seconds = secondsBetween(period.start, period.end);
  const dueAt = (time: Date) => divideHalfUp(amountMinor * secondsBetween(period.start, time), seconds);
  return dueAt(part.end) - dueAt(part.start);
}

function secondsBetween(start: Date, end: Date): bigint {
  return BigInt(Math.floor((end.getTime() - start.getTime()) / 1_000));
}
