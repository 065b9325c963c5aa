import { microsOf, minorTaken } from '@countersign/contracts';
import type { BudgetRow } from './budget-row.ts';

/** The percentages of a ceiling at which a warning is published. */
const percents = [75, 90, 100] as const;

export type Reached = {
  readonly amount: 'tool_calls' | 'spend_minor' | 'egress_bytes' | 'writes';
  readonly percent: (typeof percents)[number];
  readonly used: number;
  readonly limit: number;
};

type Ceiling = Omit<Reached, 'percent'> & { readonly usedExactly: bigint; readonly limitExactly: bigint };

/**
 * The thresholds that a budget has passed now and had not before. Within a window the usage only grows, and the
 * revision orders commits. Each threshold is therefore reached once, and again only in the next window, or under a
 * raised limit or a new currency. Reservations of calls in progress do not count, since they may be released.
 */
export function thresholdsReached(before: BudgetRow | null, after: BudgetRow): Reached[] {
  if (before?.used === after.used && before.limits === after.limits) return [];
  const earlier = before === null ? [] : ceilingsOf(before);
  return ceilingsOf(after).flatMap((ceiling) => {
    const { usedExactly, limitExactly, ...report } = ceiling;
    const was = earlier.find(({ amount }) => amount === ceiling.amount);
    return percents
      .filter((percent) => isReached(ceiling, percent) && !(was !== undefined && isReached(was, percent)))
      .map((percent) => ({ ...report, percent }));
  });
}

function ceilingsOf({ limits, used }: BudgetRow): Ceiling[] {
  const counted = (['tool_calls', 'egress_bytes', 'writes'] as const).flatMap((amount) => {
    const [limit, taken] = [limits[amount], used[amount]];
    if (limit === null) return [];
    return [{ amount, used: taken, limit, usedExactly: BigInt(taken), limitExactly: BigInt(limit) }];
  });
  const { spend_minor: limit } = limits;
  if (limit === null) return counted;
  const { spend_micros: usedExactly } = used;
  const money = { amount: 'spend_minor', used: minorTaken(usedExactly), limit } as const;
  return [...counted, { ...money, usedExactly, limitExactly: microsOf(limit) }];
}

/** At a ceiling of zero, the first use reaches all thresholds. */
function isReached({ usedExactly, limitExactly }: Ceiling, percent: number): boolean {
  return usedExactly > 0n && usedExactly * 100n >= limitExactly * BigInt(percent);
}
