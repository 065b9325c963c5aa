import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { UsageEvent } from '../metering/usage-event.ts';
import type { Tx } from './database.ts';

/** Returns meter and calendar month in UTC, such as `seats 2026-11`. */
export function usageMonthOf({ meter, occurredAt }: Pick<UsageEvent, 'meter' | 'occurredAt'>): string {
  return `${meter} ${occurredAt.toISOString().slice(0, 7)}`;
}

/**
 * Returns the totals of the months of these events. The caller must hold the lock of the usage head, so that the totals
 * do not change.
 */
export async function sumUsageMonths(
  tx: Tx,
  orgId: OrgId,
  events: readonly UsageEvent[],
): Promise<Map<string, bigint>> {
  const starts = [...new Set(events.map(({ occurredAt }) => occurredAt.toISOString().slice(0, 7)))];
  const month = { in: starts.map((start) => new Date(`${start}-01T00:00:00.000Z`)) };
  const rows = await tx.usageMonth.findMany({ where: { orgId, month } });
  return new Map(
    rows.map(({ meter, month: start, quantityMicros }) => [
      `${meter} ${start.toISOString().slice(0, 7)}`,
      quantityMicros,
    ]),
  );
}
