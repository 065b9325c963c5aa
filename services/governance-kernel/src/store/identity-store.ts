import type { PrincipalId, TenantId } from '@countersign/contracts';
import type { Identity, IdentityKind, KeyThumbprint } from '@countersign/contracts/governance-kernel';
import { noIdentity } from '../controls/identities/change-identities.ts';
import { identities, type IdentityKey, type IdentityRow } from '../controls/identities/identities.ts';
import { identityKeys, type IdentityKeyRow } from '../controls/identities/identity-keys.ts';
import { identityView } from '../controls/identities/identity-view.ts';
import type { Reader } from './database.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import { asStored } from './stored-row.ts';

/** Throws NOT_FOUND, also for an identity of another tenant. */
export async function getIdentity(reader: Reader, key: IdentityKey): Promise<IdentityRow> {
  const identity = await findIdentity(reader, key);
  if (identity === null) throw noIdentity();
  return identity;
}

/** The identity as operators see it, with the live keys of an agent. Throws NOT_FOUND. */
export async function showIdentity(reader: Reader, key: IdentityKey): Promise<Identity> {
  const keys = key.kind === 'agent' ? await listLiveKeys(reader, key.tenant, [key.principal]) : [];
  return identityView(await getIdentity(reader, key), keys);
}

async function findIdentity(reader: Reader, { tenant, kind, principal }: IdentityKey): Promise<IdentityRow | null> {
  const row = await reader.identity.findUnique({
    where: { tenant_id_kind_principal_id: { tenant_id: tenant, kind, principal_id: principal } },
  });
  return row === null ? null : identities.rowOf(asStored(row));
}

type View<Item> = (identity: IdentityRow, liveKeys: readonly IdentityKeyRow[]) => Item;

/** Newest first, each with its live keys. */
export async function listIdentities<Item>(
  reader: Reader,
  { tenant, kind }: { tenant: TenantId; kind: IdentityKind },
  { page, item }: { page: PageRequest; item: View<Item> },
): Promise<Page<Item>> {
  const before = pageStart(page, /^[0-9A-HJKMNP-TV-Z]{26}$/);
  const rows = await reader.identity.findMany({
    where: { tenant_id: tenant, kind, ...(before === null ? {} : { ulid: { lt: before } }) },
    orderBy: { ulid: 'desc' },
    take: page.limit + 1,
  });
  const principals = kind === 'agent' ? rows.map((row) => row.principal_id as PrincipalId) : []; // written by the kernel
  const keys = await listLiveKeys(reader, tenant, principals);
  return pageOf(rows, page.limit, {
    item: (row) =>
      item(
        identities.rowOf(asStored(row)),
        keys.filter(({ principal }) => principal === row.principal_id),
      ),
    key: ({ ulid }) => ulid,
  });
}

/** Oldest first. */
async function listLiveKeys(
  reader: Reader,
  tenant: TenantId,
  principals: readonly PrincipalId[],
): Promise<IdentityKeyRow[]> {
  if (principals.length === 0) return [];
  const rows = await reader.identityKey.findMany({
    where: { tenant_id: tenant, principal_id: { in: [...principals] }, revoked_at: null },
  });
  return rows
    .map((row) => identityKeys.rowOf(asStored(row)))
    .sort((left, right) => left.createdAtMs - right.createdAtMs || (left.kid < right.kid ? -1 : 1));
}

/** `null` for a key that is not enrolled in the tenant, or if the key or its identity is revoked. */
export async function findLiveKey(
  reader: Reader,
  { tenant, kid }: { tenant: TenantId; kid: KeyThumbprint },
): Promise<IdentityKeyRow | null> {
  const row = await reader.identityKey.findUnique({ where: { tenant_id_kid: { tenant_id: tenant, kid } } });
  if (row === null || row.revoked_at !== null) return null;
  const key = identityKeys.rowOf(asStored(row));
  const identity = await findIdentity(reader, { tenant, kind: 'agent', principal: key.principal });
  return identity === null || identity.revokedAtMs !== null ? null : key;
}

export async function isRevoked(reader: Reader, key: IdentityKey): Promise<boolean> {
  const identity = await findIdentity(reader, key);
  return identity !== null && identity.revokedAtMs !== null;
}

/** The revocation times of these identities, by principal. */
export async function findRevocations(
  reader: Reader,
  { tenant, kind, principals }: { tenant: TenantId; kind: IdentityKind; principals: readonly PrincipalId[] },
): Promise<ReadonlyMap<string, Date>> {
  const rows = await reader.identity.findMany({
    where: { tenant_id: tenant, kind, principal_id: { in: [...principals] }, revoked_at: { not: null } },
    select: { principal_id: true, revoked_at: true },
  });
  return new Map(rows.flatMap(({ principal_id, revoked_at: at }) => (at === null ? [] : [[principal_id, at]])));
}
