import { ScimUserId } from '@countersign/contracts';
import { ScimUser } from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { canonicalize } from '@countersign/crypto';
import { Prisma } from '../generated/prisma/client.ts';
import type { ScimUserModel } from '../generated/prisma/models.ts';
import { accountAddress } from '../scim/account-address.ts';
import type { Predicate } from '../scim/predicate.ts';
import type { UserPath } from '../scim/resource-filters.ts';
import type { Reader, Tx } from './database.ts';
import { conditionOf, type FilterColumns } from './scim-filter.ts';

export type StoredScimUser = {
  id: ScimUserId;
  orgId: OrgId;
  attributes: ScimUser;
  /** `null` when the resource has no account. */
  address: string | null;
  version: number;
  accessEpoch: number;
  createdAt: string;
  changedAt: string;
};

type OfOrg = { orgId: OrgId; id: string };

export async function insertScimUser(
  tx: Tx,
  { id, orgId, attributes, now }: { id: ScimUserId; orgId: OrgId; attributes: ScimUser; now: Date },
): Promise<StoredScimUser> {
  const times = { createdAt: now, changedAt: now };
  return userOf(await tx.scimUser.create({ data: { id, orgId, version: 1, ...columnsOf(attributes), ...times } }));
}

/** Returns a person of the organisation who is not deleted. */
export async function findScimUser(reader: Reader, { orgId, id }: OfOrg): Promise<StoredScimUser | null> {
  if (!ScimUserId.safeParse(id).success) return null;
  const row = await reader.scimUser.findUnique({ where: { orgId_id: { orgId, id }, deletedAt: null } });
  return row === null ? null : userOf(row);
}

type Conflicting = { id: string; orgId: OrgId; userName: string; externalId?: string; address: string | null };

/**
 * Returns people of the organisation with the same user name or external ID, and people of all organisations with the
 * same address.
 */
export async function listConflicting(reader: Reader, orgId: OrgId, attributes: ScimUser): Promise<Conflicting[]> {
  const { userNameKey, externalId, address } = columnsOf(attributes);
  const rows = await reader.scimUser.findMany({
    where: {
      deletedAt: null,
      OR: [
        { orgId, userNameKey },
        ...(externalId === null ? [] : [{ orgId, externalId }]),
        ...(address === null ? [] : [{ address }]),
      ],
    },
    orderBy: { id: 'asc' },
  });
  return rows.map((row) => ({
    ...{ id: row.id, orgId: OrgId.parse(row.orgId), userName: row.userNameKey, address: row.address },
    ...(row.externalId === null ? {} : { externalId: row.externalId }),
  }));
}

type Written = OfOrg & {
  attributes: ScimUser;
  version: number;
  accessEpoch: number;
  now: Date;
};

/** Stores the attributes and marks the person for publication. */
export async function writeScimUser(
  tx: Tx,
  { orgId, id, attributes, version, accessEpoch, now }: Written,
): Promise<StoredScimUser> {
  const data = { ...columnsOf(attributes), version, accessEpoch, effectDue: true, changedAt: now };
  return userOf(await tx.scimUser.update({ where: { orgId_id: { orgId, id } }, data }));
}

/** Ends the access of a person without changing attributes, and marks the person for publication. */
export async function raiseAccessEpoch(tx: Tx, { orgId, id }: OfOrg): Promise<void> {
  const data = { accessEpoch: { increment: 1 }, effectDue: true };
  await tx.scimUser.update({ where: { orgId_id: { orgId, id } }, data });
}

/** Deletes a person. The row stays. Other people can use the names and the address again. */
export async function markScimUserDeleted(tx: Tx, { orgId, id }: OfOrg, now: Date): Promise<void> {
  const data = { active: false, deletedAt: now, changedAt: now, accessEpoch: { increment: 1 }, effectDue: true };
  await tx.scimUser.update({ where: { orgId_id: { orgId, id } }, data });
}

/** Returns the people of the organisation among these IDs, with the names that groups show. */
export async function findMemberNames(
  reader: Reader,
  orgId: OrgId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await reader.scimUser.findMany({
    where: { orgId, deletedAt: null, id: { in: [...ids] } },
    select: { id: true, attributes: true },
  });
  return new Map(rows.map(({ id, attributes }) => [id, shownName(parsed(attributes))]));
}

/** Returns the subset of these IDs that belongs to people of the organisation. */
export async function listKnownIds(reader: Reader, orgId: OrgId, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const where = { orgId, deletedAt: null, id: { in: [...ids] } };
  const rows = await reader.scimUser.findMany({ where, select: { id: true } });
  return new Set(rows.map(({ id }) => id));
}

const columns: FilterColumns<UserPath> = {
  id: { kind: 'text', sql: Prisma.sql`id` },
  externalId: { kind: 'text', sql: Prisma.sql`external_id` },
  userName: { kind: 'text', sql: Prisma.sql`user_name_key` },
  displayName: { kind: 'text', sql: Prisma.sql`display_name_key` },
  'emails.value': { kind: 'values', sql: Prisma.sql`SELECT unnest(email_keys)` },
  active: { kind: 'boolean', sql: Prisma.sql`active` },
};

type Listed = { filter: Predicate<UserPath> | null; startIndex: number; count: number };

/** Returns a page by ID, which is the order of creation. */
export async function listScimUsers(
  tx: Tx,
  orgId: OrgId,
  { filter, startIndex, count }: Listed,
): Promise<{ total: number; users: StoredScimUser[] }> {
  const matching = filter === null ? Prisma.sql`true` : conditionOf(filter, columns);
  const where = Prisma.sql`org_id = ${orgId} AND deleted_at IS NULL AND ${matching}`;
  const [counted] = await tx.$queryRaw<{ total: number }[]>`
    SELECT count(*)::int AS total FROM scim_users WHERE ${where}`;
  const ids = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM scim_users WHERE ${where} ORDER BY id OFFSET ${startIndex - 1}::bigint LIMIT ${count}::int`;
  const rows = await tx.scimUser.findMany({
    where: { orgId, id: { in: ids.map(({ id }) => id) } },
    orderBy: { id: 'asc' },
  });
  return { total: counted?.total ?? 0, users: rows.map(userOf) };
}

/** Marks these people, or all people of the organisation, for publication. */
export async function markEffectsDue(tx: Tx, orgId: OrgId, ids: readonly string[] | 'all'): Promise<void> {
  const among = ids === 'all' ? {} : { id: { in: [...ids] } };
  await tx.scimUser.updateMany({ where: { orgId, deletedAt: null, ...among }, data: { effectDue: true } });
}

export function shownName({ displayName, userName }: ScimUser): string {
  return displayName ?? userName;
}

function columnsOf(attributes: ScimUser) {
  const { userName, displayName, externalId = null, emails = [], active } = attributes;
  return {
    userNameKey: userName.toLowerCase(),
    displayNameKey: displayName?.toLowerCase() ?? null,
    externalId,
    emailKeys: emails.map(({ value }) => value.toLowerCase()),
    address: accountAddress(attributes),
    active,
    attributes: canonicalize(attributes),
  };
}

function userOf(row: ScimUserModel): StoredScimUser {
  return {
    ...{ id: ScimUserId.parse(row.id), orgId: OrgId.parse(row.orgId), attributes: parsed(row.attributes) },
    ...{ address: row.address, version: row.version, accessEpoch: row.accessEpoch },
    ...{ createdAt: row.createdAt.toISOString(), changedAt: row.changedAt.toISOString() },
  };
}

function parsed(text: string): ScimUser {
  return ScimUser.parse(JSON.parse(text));
}
