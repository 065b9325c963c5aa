import { instantOf, AppError, type Instant } from '@countersign/contracts';
import {
  bucketMinutes,
  bucketsMax,
  type DecisionStats,
  type StatBucket,
} from '@countersign/contracts/governance-kernel';
import type { CountCell } from '../../store/decision-count-store.ts';

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;

/** Whole buckets that contain the period. */
type BucketRange = { bucket: StatBucket; fromMs: number; toMs: number };

/** Widths in minutes of the stored counts that make up a bucket. */
export const spanOf = { '5m': 5, '30m': 30, '1h': 30, '1d': 1440 } as const;

type Period = { from?: Instant | undefined; to?: Instant | undefined; bucket: StatBucket };

/** Throws INVALID_REQUEST when the period is empty or has too many buckets. */
export function bucketRange({ from, to, bucket }: Period, now: Date): BucketRange {
  const end = to === undefined ? now.getTime() : Date.parse(to);
  const begin = from === undefined ? end - dayMs : Date.parse(from);
  const widthMs = bucketMinutes[bucket] * minuteMs;
  const fromMs = Math.floor(begin / widthMs) * widthMs;
  const toMs = Math.ceil(end / widthMs) * widthMs;
  if (begin >= end)
    throw new AppError('INVALID_REQUEST', '`to` is not later than `from`. Send a later `to`.', { param: 'to' });
  const count = (toMs - fromMs) / widthMs;
  if (count > bucketsMax)
    throw new AppError(
      'INVALID_REQUEST',
      `The period has ${count} buckets of ${bucket} (limit ${bucketsMax}). Send a wider \`bucket\` or a shorter period.`,
      { param: 'bucket' },
    );
  return { bucket, fromMs, toMs };
}

type Counted = { cells: readonly CountCell[]; size: number; log_size: number; newest_at: Date | null };

/** Series of counts, largest first. */
export function decisionStats({ bucket, fromMs, toMs }: BucketRange, counted: Counted): DecisionStats {
  const widthMs = bucketMinutes[bucket] * minuteMs;
  const length = (toMs - fromMs) / widthMs;
  const zeros = () => Array.from({ length }, () => 0);
  const byKey = new Map<string | null, number[]>();
  for (const { at_ms, key, calls } of counted.cells) {
    const counts = byKey.get(key) ?? zeros();
    counts[(at_ms - fromMs) / widthMs] = calls;
    byKey.set(key, counts);
  }
  const series = [...byKey].map(([key, counts]) => ({ key, counts, total: sum(counts) }));
  const named = series.flatMap(({ key, ...rest }) => (key === null ? [] : [{ key: key === '' ? null : key, ...rest }]));
  const others = series.find(({ key }) => key === null);
  return {
    bucket,
    buckets: Array.from({ length }, (_, nth) => instantOf(fromMs + nth * widthMs)),
    series: named.sort((a, b) => b.total - a.total || ((a.key ?? '') < (b.key ?? '') ? -1 : 1)),
    others: others === undefined ? null : { total: others.total, counts: others.counts },
    total: sum(series.map(({ total }) => total)),
    tree_size: counted.size,
    complete_to: completeTo(counted),
  };
}

function completeTo({ size, log_size, newest_at }: Counted): Instant | null {
  return size === log_size ? null : instantOf(newest_at?.getTime() ?? 0);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
