import type { OrgId } from '@countersign/contracts/governance-kernel';
import { microsPerUnit } from '../metering/micros.ts';
import type { Reader } from './database.ts';

/** Tool calls that occurred from `from` to `until`, without a started one. */
export async function sumToolCalls(
  reader: Reader,
  { orgId, from, until }: { orgId: OrgId; from: Date; until: Date },
): Promise<number> {
  const where = { orgId, meter: 'tool_calls', occurredAt: { gte: from, lte: until } };
  const { _sum } = await reader.usageEvent.aggregate({ where, _sum: { quantityMicros: true } });
  return Number((_sum.quantityMicros ?? 0n) / microsPerUnit);
}

export function countWorkspaces(reader: Reader, orgId: OrgId): Promise<number> {
  return reader.orgWorkspace.count({ where: { orgId } });
}
