import { divideHalfUp } from './decimal.ts';
import type { Period } from './period.ts';

export type PartOfPeriod = { period: Period; part: Period };

/**
 * The share of an amount for a part of a period, by second. The share from the start of the period to each end of the part is rounded
 * half up, and the result is the difference. Consecutive parts therefore add up to the whole amount.
 */
export function prorate(amount: bigint, { period, part }: PartOfPeriod): bigint {
  if (part.start < period.start || part.end > period.end || part.end < part.start)
    throw new RangeError('The part must be inside the period');
  const seconds = secondsBetween(period.start, period.end);
  const shareUntil = (time: Date) => divideHalfUp(amount * secondsBetween(period.start, time), seconds);
  return shareUntil(part.end) - shareUntil(part.start);
}

function secondsBetween(start: Date, end: Date): bigint {
  return BigInt(Math.floor((end.getTime() - start.getTime()) / 1_000));
}
