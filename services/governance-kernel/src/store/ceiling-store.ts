import { policyCeilings, type CeilingsRow } from '../controls/policy/policy-ceilings.ts';
import type { Reader } from './database.ts';
import { asStored } from './stored-row.ts';

export async function findCeilings(reader: Reader, tenant: string): Promise<CeilingsRow | null> {
  const row = await reader.policyCeilings.findUnique({ where: { tenant_id: tenant } });
  return row === null ? null : policyCeilings.rowOf(asStored(row));
}
