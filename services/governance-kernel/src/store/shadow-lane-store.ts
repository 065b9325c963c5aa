import type { TenantId } from '@countersign/contracts';
import { shadowLanes, type LaneRow } from '../controls/policy/shadow-lanes.ts';
import type { Reader } from './database.ts';
import { asStored } from './stored-row.ts';

type StoredLanes = { lanes: readonly LaneRow[]; drafts: Readonly<Record<string, string>> };

/** The lanes of a tenant with their drafts, by lane. */
export async function findShadowDrafts(reader: Reader, tenant: TenantId): Promise<StoredLanes | null> {
  const row = await reader.shadowLanes.findUnique({ where: { tenant_id: tenant } });
  if (row === null) return null;
  const { lanes } = shadowLanes.rowOf(asStored(row));
  return { lanes, drafts: row.drafts as Record<string, string> }; // only the kernel writes these rows
}
