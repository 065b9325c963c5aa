import type { OrgId } from '@countersign/contracts/governance-kernel';
import { microsPerUnit } from '../metering/micros.ts';
import type { Reader } from './database.ts';

/**
 * Returns the tool calls of the calendar month in UTC, rounded down. Each stored event updates the total, so this query
 * reads one row.
 */
export async function countToolCalls(reader: Reader, orgId: OrgId, at: Date): Promise<number> {
  const month = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1));
  const where = { orgId_meter_month: { orgId, meter: 'tool_calls', month } };
  const total = await reader.usageMonth.findUnique({ where });
  return Number((total?.quantityMicros ?? 0n) / microsPerUnit);
}

export function countWorkspaces(reader: Reader, orgId: OrgId): Promise<number> {
  return reader.orgWorkspace.count({ where: { orgId } });
}
