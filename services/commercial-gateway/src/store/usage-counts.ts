import type { OrgId } from '@countersign/contracts/governance-kernel';
import { microsPerUnit } from '../metering/micros.ts';
import type { Reader } from './database.ts';

/** Tool calls of the calendar month in UTC, without a started one. The total is kept with each event, so its cost does not grow with the events. */
export async function countToolCalls(reader: Reader, orgId: OrgId, at: Date): Promise<number> {
  const month = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1));
  const where = { orgId_meter_month: { orgId, meter: 'tool_calls', month } };
  const total = await reader.usageMonth.findUnique({ where });
  return Number((total?.quantityMicros ?? 0n) / microsPerUnit);
}

export function countWorkspaces(reader: Reader, orgId: OrgId): Promise<number> {
  return reader.orgWorkspace.count({ where: { orgId } });
}
