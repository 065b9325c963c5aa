import { z } from 'zod';
import { bucketMinutes, type DecisionStats, type StatBucket } from '@countersign/contracts/governance-kernel';

type Period = { words: string; inSentence: string; before: string; hours: number; bucket: StatBucket };

/** Periods that a chart can show, with the width of its buckets. */
export const periods = {
  '1h': { words: '1 h', inSentence: 'in 1 hour', before: 'the hour before', hours: 1, bucket: '5m' },
  '24h': { words: '24 h', inSentence: 'in 24 hours', before: 'the day before', hours: 24, bucket: '30m' },
  '7d': { words: '7 d', inSentence: 'in 7 days', before: 'the week before', hours: 168, bucket: '1h' },
  '30d': { words: '30 d', inSentence: 'in 30 days', before: 'the 30 days before', hours: 720, bucket: '1d' },
} as const satisfies Record<string, Period>;

export const PeriodName = z.enum(['1h', '24h', '7d', '30d']);
export type PeriodName = z.infer<typeof PeriodName>;

const hourMs = 3_600_000;
export const bucketMs = (bucket: StatBucket): number => bucketMinutes[bucket] * 60_000;

/** The period up to now, or the one before it, in whole buckets. */
export function rangeOf(
  name: PeriodName,
  nowMs: number,
  { before = 0, bucket = periods[name].bucket }: { before?: number; bucket?: StatBucket } = {},
): { from: string; to: string } {
  const { hours } = periods[name];
  const widthMs = bucketMs(bucket);
  const endMs = Math.ceil(nowMs / widthMs) * widthMs - before * hours * hourMs;
  return { from: new Date(endMs - hours * hourMs).toISOString(), to: new Date(endMs).toISOString() };
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

/** The start of a bucket: a time of day, a day, or both. */
export function bucketName(at: string, { bucket, buckets }: Pick<DecisionStats, 'bucket' | 'buckets'>): string {
  const date = new Date(at);
  if (bucket === '1d') return day.format(date);
  const spansDays = buckets.length * bucketMs(bucket) > 24 * hourMs;
  return spansDays ? `${day.format(date)}, ${clock.format(date)}` : clock.format(date);
}
