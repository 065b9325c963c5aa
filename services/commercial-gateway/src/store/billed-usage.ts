import { Meter } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Usage } from '../billing/rate-usage.ts';
import type { UsageEventModel } from '../generated/prisma/models.ts';
import type { Reader } from './database.ts';

/**
 * The usage events that an invoice bills: events numbered up to `usageSeq` that occurred from `usageFrom` to
 * `periodEnd`, without the events of earlier invoices. Numbers and period ends only increase, so no event is billed
 * twice. The next invoice bills late events.
 */
type UsageBounds = {
  usageFrom: Date;
  periodEnd: Date;
  usageSeq: bigint;
  /** Earlier invoices billed the events up to this number that occurred before `billedUntil`. */
  billedSeq: bigint;
  /** `null` when there is no earlier invoice. */
  billedUntil: Date | null;
};

/** Quantity per meter. */
export async function sumBilledUsage(reader: Reader, orgId: OrgId, bounds: UsageBounds): Promise<Usage> {
  const sums = await reader.usageEvent.groupBy({
    by: ['meter'],
    where: { orgId, OR: rangesOf(bounds) },
    _sum: { quantityMicros: true },
  });
  return Object.fromEntries(sums.map(({ meter, _sum }) => [Meter.parse(meter), _sum.quantityMicros ?? 0n]));
}

type BilledEvent = Pick<UsageEventModel, 'source' | 'id' | 'seq' | 'workspaceId' | 'quantityMicros' | 'occurredAt'>;

type EventPage = { bounds: UsageBounds; meter: Meter; afterSeq: bigint; limit: number };

/**
 * Returns the events that one usage line bills, in the order of their numbers. Their quantities add up to the quantity
 * of the line.
 */
export async function listBilledEvents(
  reader: Reader,
  orgId: OrgId,
  { bounds, meter, afterSeq, limit }: EventPage,
): Promise<BilledEvent[]> {
  const found: BilledEvent[] = [];
  for (const range of rangesOf(bounds)) {
    if (found.length === limit) break;
    const rows = await reader.usageEvent.findMany({
      where: { orgId, meter, AND: [range, { seq: { gt: afterSeq } }] },
      select: { source: true, id: true, seq: true, workspaceId: true, quantityMicros: true, occurredAt: true },
      orderBy: { seq: 'asc' },
      take: limit - found.length,
    });
    found.push(...rows);
  }
  return found;
}

type EventRange = { seq: { gt?: bigint; lte: bigint }; occurredAt: { gte: Date; lt: Date } };

/**
 * After an earlier invoice, selects the billed events as two disjoint ranges, lower numbers first. The first range was
 * stored before the last invoice and occurred after its period. The second range was stored later. Each range uses an
 * index, however long the history is.
 */
function rangesOf({ usageFrom, periodEnd, usageSeq, billedSeq, billedUntil }: UsageBounds): EventRange[] {
  if (billedUntil === null) return [{ seq: { lte: usageSeq }, occurredAt: { gte: usageFrom, lt: periodEnd } }];
  const early = { gte: usageFrom > billedUntil ? usageFrom : billedUntil, lt: periodEnd };
  return [
    { seq: { lte: billedSeq }, occurredAt: early },
    { seq: { gt: billedSeq, lte: usageSeq }, occurredAt: { gte: usageFrom, lt: periodEnd } },
  ];
}
