import { microsPerUnit } from './micros.ts';
import type { UsageEvent } from './usage-event.ts';

/**
 * Limit of the submitted usage of one meter in a calendar month, in units. A period and its late events touch at most
 * four months. Sums therefore fit into BIGINT, and invoices stay below `totalMinorMax`.
 */
export const monthUnitsMax = 1_000_000_000_000n;

/**
 * Splits events by whether the total of their month stays within the limit. `monthOf` names the meter and month of an
 * event.
 */
export function withinMonthLimit(
  events: readonly UsageEvent[],
  { totals, monthOf }: { totals: ReadonlyMap<string, bigint>; monthOf: (event: UsageEvent) => string },
): { accepted: UsageEvent[]; refused: UsageEvent[] } {
  const counted = new Map(totals);
  const [accepted, refused]: [UsageEvent[], UsageEvent[]] = [[], []];
  for (const event of events) {
    const total = (counted.get(monthOf(event)) ?? 0n) + event.quantityMicros;
    if (total > monthUnitsMax * microsPerUnit) {
      refused.push(event);
      continue;
    }
    counted.set(monthOf(event), total);
    accepted.push(event);
  }
  return { accepted, refused };
}
