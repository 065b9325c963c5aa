import type { TenantId } from '@countersign/contracts';
import { authProfiles, type ProfileRow } from '../controls/auth-profiles/auth-profiles.ts';
import type { Reader } from './database.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import { asStored } from './stored-row.ts';

/** Lists the profiles of a tenant by name. */
export async function listProfiles<Item>(
  reader: Reader,
  tenant: TenantId,
  { page, item }: { page: PageRequest; item: (row: ProfileRow) => Item },
): Promise<Page<Item>> {
  const behind = pageStart(page, /^[a-z0-9._-]{1,64}$/) ?? '';
  const rows = await reader.authProfile.findMany({
    where: { tenant_id: tenant, profile_id: { gt: behind } },
    orderBy: { profile_id: 'asc' },
    take: page.limit + 1,
  });
  const found = rows.map((row) => authProfiles.rowOf(asStored(row)));
  return pageOf(found, page.limit, { item, key: ({ id }) => id });
}
