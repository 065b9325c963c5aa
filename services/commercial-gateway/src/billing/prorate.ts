import { divideHalfUp } from './decimal.ts';
import type { Period } from './period.ts';

export type PartOfPeriod = { period: Period; span: Period };

/**
 * Returns the share of an amount for a part of a period, by second. The shares up to the start and up to the end of the
 * part are each rounded half up. The result is their difference, so consecutive parts add up to the whole amount.
 */
export function prorate(amount: bigint, { period, span }: PartOfPeriod): bigint {
  if (span.start < period.start || span.end > period.end || span.end < span.start)
    throw new RangeError('The part must be inside the period');
  const seconds = secondsBetween(period.start, period.end);
  const shareUntil = (time: Date) => divideHalfUp(amount * secondsBetween(period.start, time), seconds);
  return shareUntil(span.end) - shareUntil(span.start);
}

function secondsBetween(start: Date, end: Date): bigint {
  return BigInt(Math.floor((end.getTime() - start.getTime()) / 1_000));
}
