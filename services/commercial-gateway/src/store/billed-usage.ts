import { Meter } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Usage } from '../billing/rate-usage.ts';
import type { UsageEventModel } from '../generated/prisma/models.ts';
import type { Reader } from './database.ts';

/**
 * Which usage events an invoice bills: the events numbered up to `usageSeq` that occurred from `usageFrom` to `periodEnd`, without the
 * events that earlier invoices billed. Numbers and period ends only rise, so no event is billed twice, and a late event is billed next.
 */
type UsageBounds = {
  usageFrom: Date;
  periodEnd: Date;
  usageSeq: bigint;
  /** Earlier invoices billed the events up to this number that occurred before `billedUntil`. */
  billedSeq: bigint;
  /** `null` when no invoice was billed before. */
  billedUntil: Date | null;
};

/** Quantity per meter. */
export async function sumBilledUsage(reader: Reader, orgId: OrgId, bounds: UsageBounds): Promise<Usage> {
  const sums = await reader.usageEvent.groupBy({
    by: ['meter'],
    where: billedBy(orgId, bounds),
    _sum: { quantityMicros: true },
  });
  return Object.fromEntries(sums.map(({ meter, _sum }) => [Meter.parse(meter), _sum.quantityMicros ?? 0n]));
}

type BilledEvent = Pick<UsageEventModel, 'source' | 'id' | 'seq' | 'quantityMicros' | 'occurredAt'>;

/** The events behind one usage line, in the order of their numbers. Their quantities add up to the quantity of the line. */
export async function listBilledEvents(
  reader: Reader,
  orgId: OrgId,
  { bounds, meter, afterSeq, limit }: { bounds: UsageBounds; meter: Meter; afterSeq: bigint; limit: number },
): Promise<BilledEvent[]> {
  return reader.usageEvent.findMany({
    where: { AND: [billedBy(orgId, bounds), { meter, seq: { gt: afterSeq } }] },
    select: { source: true, id: true, seq: true, quantityMicros: true, occurredAt: true },
    orderBy: { seq: 'asc' },
    take: limit,
  });
}

function billedBy(orgId: OrgId, { usageFrom, periodEnd, usageSeq, billedSeq, billedUntil }: UsageBounds) {
  const billedBefore = billedUntil === null ? [] : [{ seq: { lte: billedSeq }, occurredAt: { lt: billedUntil } }];
  return { orgId, seq: { lte: usageSeq }, occurredAt: { gte: usageFrom, lt: periodEnd }, NOT: billedBefore };
}
