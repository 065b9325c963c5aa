import { ScimGroupId } from '@countersign/contracts';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { Prisma } from '../generated/prisma/client.ts';
import type { ScimGroupModel } from '../generated/prisma/models.ts';
import type { Predicate } from '../scim/predicate.ts';
import type { GroupPath } from '../scim/resource-filters.ts';
import type { Reader, Tx } from './database.ts';
import { conditionOf, type FilterColumns } from './scim-filter.ts';

export type StoredScimGroup = {
  id: ScimGroupId;
  orgId: OrgId;
  displayName: string;
  externalId: string | null;
  version: number;
  createdAt: string;
  changedAt: string;
};

type Names = Pick<StoredScimGroup, 'displayName' | 'externalId'>;
type OfOrg = { orgId: OrgId; id: string };

export async function insertScimGroup(
  tx: Tx,
  { id, orgId, displayName, externalId, now }: Names & { id: ScimGroupId; orgId: OrgId; now: Date },
): Promise<StoredScimGroup> {
  const names = { displayName, displayNameKey: displayName.toLowerCase(), externalId };
  const data = { id, orgId, ...names, version: 1, createdAt: now, changedAt: now };
  return groupOf(await tx.scimGroup.create({ data }));
}

export async function findScimGroup(reader: Reader, { orgId, id }: OfOrg): Promise<StoredScimGroup | null> {
  if (!ScimGroupId.safeParse(id).success) return null;
  const row = await reader.scimGroup.findUnique({ where: { orgId_id: { orgId, id }, deletedAt: null } });
  return row === null ? null : groupOf(row);
}

export async function writeScimGroup(
  tx: Tx,
  { orgId, id, displayName, externalId, version, now }: Names & OfOrg & { version: number; now: Date },
): Promise<StoredScimGroup> {
  const data = { displayName, displayNameKey: displayName.toLowerCase(), externalId, version, changedAt: now };
  return groupOf(await tx.scimGroup.update({ where: { orgId_id: { orgId, id } }, data }));
}

/** Deletes a group. The row stays without members. */
export async function markScimGroupDeleted(tx: Tx, { orgId, id }: OfOrg, now: Date): Promise<void> {
  await tx.scimGroupMember.deleteMany({ where: { orgId, groupId: id } });
  await tx.scimGroup.update({ where: { orgId_id: { orgId, id } }, data: { deletedAt: now, changedAt: now } });
}

export async function listMemberIds(reader: Reader, { orgId, id }: OfOrg): Promise<string[]> {
  const where = { orgId, groupId: id };
  const rows = await reader.scimGroupMember.findMany({ where, orderBy: { userId: 'asc' }, select: { userId: true } });
  return rows.map(({ userId }) => userId);
}

type MemberChange = OfOrg & { added: readonly string[]; removed: readonly string[] };

export async function changeMembers(tx: Tx, { orgId, id: groupId, added, removed }: MemberChange): Promise<void> {
  await tx.scimGroupMember.deleteMany({ where: { orgId, groupId, userId: { in: [...removed] } } });
  if (added.length === 0) return;
  // All members are passed as one array parameter.
  await tx.$executeRaw`
    INSERT INTO scim_group_members (org_id, group_id, user_id)
    SELECT ${orgId}, ${groupId}, user_id FROM unnest(${[...added]}::text[]) AS user_id`;
}

/** Removes a person from all groups and raises the versions of these groups. */
export async function leaveAllGroups(
  tx: Tx,
  { orgId, userId, now }: { orgId: OrgId; userId: string; now: Date },
): Promise<void> {
  const rows = await tx.scimGroupMember.findMany({ where: { orgId, userId }, select: { groupId: true } });
  const groupIds = rows.map(({ groupId }) => groupId);
  await tx.scimGroupMember.deleteMany({ where: { orgId, userId } });
  const data = { version: { increment: 1 }, changedAt: now };
  await tx.scimGroup.updateMany({ where: { orgId, id: { in: groupIds } }, data });
}

type GroupOfUser = { userId: string; groupId: string; displayName: string };

/** Returns the groups of these people with their names, in the order of the group IDs. */
export async function listGroupsOf(reader: Reader, orgId: OrgId, userIds: readonly string[]): Promise<GroupOfUser[]> {
  const rows = await reader.scimGroupMember.findMany({
    where: { orgId, userId: { in: [...userIds] } },
    include: { group: { select: { displayName: true } } },
    orderBy: { groupId: 'asc' },
  });
  return rows.map(({ userId, groupId, group: { displayName } }) => ({ userId, groupId, displayName }));
}

const columns: FilterColumns<GroupPath> = {
  id: { kind: 'text', sql: Prisma.sql`id` },
  externalId: { kind: 'text', sql: Prisma.sql`external_id` },
  displayName: { kind: 'text', sql: Prisma.sql`display_name_key` },
  'members.value': {
    kind: 'values',
    sql: Prisma.sql`SELECT user_id FROM scim_group_members WHERE org_id = scim_groups.org_id AND group_id = scim_groups.id`,
  },
};

type Listed = { filter: Predicate<GroupPath> | null; startIndex: number; count: number };

/** Returns a page of groups by ID, with the number of members of each group. */
export async function listScimGroups(
  tx: Tx,
  orgId: OrgId,
  { filter, startIndex, count }: Listed,
): Promise<{ total: number; groups: (StoredScimGroup & { memberCount: number })[] }> {
  const matching = filter === null ? Prisma.sql`true` : conditionOf(filter, columns);
  const where = Prisma.sql`org_id = ${orgId} AND deleted_at IS NULL AND ${matching}`;
  const [counted] = await tx.$queryRaw<{ total: number }[]>`
    SELECT count(*)::int AS total FROM scim_groups WHERE ${where}`;
  const ids = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM scim_groups WHERE ${where} ORDER BY id OFFSET ${startIndex - 1}::bigint LIMIT ${count}::int`;
  const rows = await tx.scimGroup.findMany({
    where: { orgId, id: { in: ids.map(({ id }) => id) } },
    include: { _count: { select: { members: true } } },
    orderBy: { id: 'asc' },
  });
  const groups = rows.map((row) => ({ ...groupOf(row), memberCount: row._count.members }));
  return { total: counted?.total ?? 0, groups };
}

/** Returns the members of several groups, by group. */
export async function listMembersOf(
  reader: Reader,
  orgId: OrgId,
  groupIds: readonly string[],
): Promise<{ groupId: string; userId: string }[]> {
  return reader.scimGroupMember.findMany({
    where: { orgId, groupId: { in: [...groupIds] } },
    orderBy: [{ groupId: 'asc' }, { userId: 'asc' }],
    select: { groupId: true, userId: true },
  });
}

function groupOf(row: ScimGroupModel): StoredScimGroup {
  return {
    ...{ id: ScimGroupId.parse(row.id), orgId: OrgId.parse(row.orgId) },
    ...{ displayName: row.displayName, externalId: row.externalId, version: row.version },
    ...{ createdAt: row.createdAt.toISOString(), changedAt: row.changedAt.toISOString() },
  };
}
