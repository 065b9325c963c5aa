import { AppError, type SandboxGrantId, type TenantId } from '@countersign/contracts';
import { sandboxGrants, type SandboxGrantRow } from '../controls/sandbox/sandbox-grants.ts';
import type { Reader } from './database.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import { asStored } from './stored-row.ts';

/** Lists the grants of a tenant by subject. */
export async function listGrants<Item>(
  reader: Reader,
  tenant: TenantId,
  { page, item }: { page: PageRequest; item: (row: SandboxGrantRow) => Item },
): Promise<Page<Item>> {
  const behind = pageStart(page, /^(?:server|tool):.{1,256}$/u) ?? '';
  const rows = await reader.sandboxGrant.findMany({
    where: { tenant_id: tenant, subject: { gt: behind } },
    orderBy: { subject: 'asc' },
    take: page.limit + 1,
  });
  const found = rows.map((row) => sandboxGrants.rowOf(asStored(row)));
  return pageOf(found, page.limit, { item, key: ({ subject }) => subject });
}

/** All grants of a tenant, which are few. */
export async function findGrants(reader: Reader, tenant: TenantId): Promise<SandboxGrantRow[]> {
  const rows = await reader.sandboxGrant.findMany({ where: { tenant_id: tenant } });
  return rows.map((row) => sandboxGrants.rowOf(asStored(row)));
}

/** Throws NOT_FOUND. */
export async function getGrant(reader: Reader, tenant: TenantId, id: SandboxGrantId): Promise<SandboxGrantRow> {
  const row = await reader.sandboxGrant.findFirst({ where: { tenant_id: tenant, grant_id: id } });
  if (row === null)
    throw new AppError('NOT_FOUND', 'The tenant has no sandbox grant with this ID, or a newer grant replaced it', {
      param: 'grant_id',
    });
  return sandboxGrants.rowOf(asStored(row));
}
