import { Meter } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Reader } from './database.ts';

type UsageOfOrgs = {
  quantities: { orgId: string; meter: Meter; quantityMicros: bigint }[];
  /** Delay in milliseconds between the time of the last event and its storage, by organisation. */
  lagsMs: ReadonlyMap<string, number>;
};

/** Returns the usage of several organisations since a time, by meter. */
export async function listUsageSince(reader: Reader, orgIds: readonly OrgId[], since: Date): Promise<UsageOfOrgs> {
  const own = { orgId: { in: [...orgIds] } };
  const sums = await reader.usageEvent.groupBy({
    by: ['orgId', 'meter'],
    where: { ...own, occurredAt: { gte: since } },
    _sum: { quantityMicros: true },
    orderBy: { meter: 'asc' },
  });
  const heads = await reader.usageHead.findMany({ where: { ...own, lastSeq: { gt: 0 } } });
  const last = await reader.usageEvent.findMany({
    where: { OR: heads.map(({ orgId, lastSeq }) => ({ orgId, seq: lastSeq })) },
    select: { orgId: true, occurredAt: true, receivedAt: true },
  });
  return {
    quantities: sums.map(({ orgId, meter, _sum }) => ({
      ...{ orgId, meter: Meter.parse(meter), quantityMicros: _sum.quantityMicros ?? 0n },
    })),
    lagsMs: new Map(
      last.map(({ orgId, occurredAt, receivedAt }) => [orgId, receivedAt.getTime() - occurredAt.getTime()]),
    ),
  };
}
