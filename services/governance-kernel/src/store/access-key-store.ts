import type { AccessKeyId, PrincipalId, TenantId } from '@countersign/contracts';
import { accessKeys, identityKindOf, type AccessKeyRow } from '../controls/access-keys/access-keys.ts';
import type { AccessKeyModel } from '../generated/prisma/models.ts';
import type { KeysQuery } from '../doors/server-registry/end-keys.ts';
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

/** A key also counts as revoked when the identity of its holder is revoked. */
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

/** Keys that are neither revoked nor expired, and whose list of tools contains a tool of this server. */
export async function listKeysForServer(
  reader: Reader,
  tenant: TenantId,
  { serverId, now, until }: KeysQuery,
): Promise<AccessKeyId[]> {
  const rows = await reader.$queryRaw<{ key_id: string }[]>`
    SELECT key_id FROM access_keys
     WHERE tenant_id = ${tenant} AND revoked_at IS NULL AND expires_at > ${now} AND jsonb_typeof(tools) = 'array'
       AND created_at <= coalesce(${until}::timestamptz, 'infinity')
       AND EXISTS (SELECT FROM jsonb_array_elements_text(tools) AS tool WHERE starts_with(tool, ${`${serverId}.`}))
     ORDER BY key_id`;
  return rows.map(({ key_id }) => key_id as AccessKeyId); // written by the kernel
}

/** The last use of a key of the tenant. `null` when it was never used. */
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

/** Stores the last uses of keys, in the order of the keys, so that two replicas cannot deadlock. */
export async function recordKeyUses(tx: Tx, uses: ReadonlyMap<AccessKeyId, Date>): Promise<void> {
  const inOrder = [...uses].sort(([left], [right]) => (left < right ? -1 : 1));
  for (const [id, at] of inOrder) await tx.accessKey.updateMany({ where: { key_id: id }, data: { last_used_at: at } });
}
