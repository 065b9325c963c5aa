import type { AccessKeyId, PrincipalId, TenantId } from '@countersign/contracts';
import { accessKeys, identityKindOf, type AccessKeyRow } from '../access-keys/access-keys.ts';
import type { AccessKeyModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';
import { findRevocations } from './identity-store.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import { asStored } from './stored-row.ts';

/** Searches all tenants: the secret identifies the tenant. */
export async function findAccessKey(reader: Reader, secretHash: string): Promise<AccessKeyRow | null> {
  const row = await reader.accessKey.findUnique({ where: { secret_hash: secretHash } });
  return row === null ? null : await underIdentity(reader, row);
}

/** Searches all tenants: the caller has proven to own the key. */
export async function findAccessKeyById(reader: Reader, id: AccessKeyId): Promise<AccessKeyRow | null> {
  const row = await reader.accessKey.findUnique({ where: { key_id: id } });
  return row === null ? null : await underIdentity(reader, row);
}

/** A key ends with the identity of its holder. */
async function underIdentity(reader: Reader, row: AccessKeyModel): Promise<AccessKeyRow> {
  const key = accessKeys.rowOf(asStored(row));
  const { tenant, principal } = key;
  const ended = await findRevocations(reader, { tenant, kind: identityKindOf(key), principals: [principal] });
  return endedWith(key, ended.get(principal));
}

function endedWith(key: AccessKeyRow, identityRevokedAt: Date | undefined): AccessKeyRow {
  return { ...key, revokedAtMs: key.revokedAtMs ?? identityRevokedAt?.getTime() ?? null };
}

/** Newest first. */
export async function listAccessKeys<Item>(
  reader: Reader,
  tenant: TenantId,
  { page, item }: { page: PageRequest; item: (key: AccessKeyRow, lastUsedAtMs: number | null) => Item },
): Promise<Page<Item>> {
  const before = pageStart(page, /^key_[0-9A-HJKMNP-TV-Z]{26}$/);
  const rows = await reader.accessKey.findMany({
    where: { tenant_id: tenant, ...(before === null ? {} : { key_id: { lt: before } }) },
    orderBy: { key_id: 'desc' },
    take: page.limit + 1,
  });
  const principals = rows.map(({ principal_id }) => principal_id as PrincipalId); // written by the kernel
  const agents = await findRevocations(reader, { tenant, kind: 'agent', principals });
  const operators = await findRevocations(reader, { tenant, kind: 'operator', principals });
  const view = (row: AccessKeyModel) => {
    const key = accessKeys.rowOf(asStored(row));
    const ended = identityKindOf(key) === 'agent' ? agents : operators;
    return item(endedWith(key, ended.get(key.principal)), row.last_used_at?.getTime() ?? null);
  };
  return pageOf(rows, page.limit, {
    item: view,
    key: ({ key_id }: AccessKeyModel) => key_id,
  });
}

/** When a key of the tenant was last used; null: never. */
export async function findLastUse(
  reader: Reader,
  { tenant, id }: { tenant: TenantId; id: AccessKeyId },
): Promise<Date | null> {
  const row = await reader.accessKey.findFirst({
    where: { tenant_id: tenant, key_id: id },
    select: { last_used_at: true },
  });
  return row?.last_used_at ?? null;
}

/** In the order of the keys, so that two replicas do not wait for each other. */
export async function recordKeyUses(tx: Tx, uses: ReadonlyMap<AccessKeyId, Date>): Promise<void> {
  const inOrder = [...uses].sort(([left], [right]) => (left < right ? -1 : 1));
  for (const [id, at] of inOrder) await tx.accessKey.updateMany({ where: { key_id: id }, data: { last_used_at: at } });
}
