import { instantOf, UserId, WorkspaceId } from '@countersign/contracts';
import type { ListedOrg, ListedOrgWorkspace } from '@countersign/contracts/control-plane';
import { OrgId } from '@countersign/contracts/governance-kernel';
import type { Reader, Tx } from './database.ts';

export type Org = { id: OrgId; name: string };
/** A workspace and its organisation. */
export type Owned = { workspaceId: WorkspaceId; orgId: OrgId; isPlaced: boolean };

/** The one organisation that a person created. */
export async function findOrgOfAdmin(reader: Reader, adminId: UserId): Promise<Org | null> {
  const row = await reader.org.findUnique({ where: { adminId } });
  return row === null ? null : { id: OrgId.parse(row.id), name: row.name };
}

/** The person who created the organisation. `null` when it does not exist. */
export async function findAdminOf(reader: Reader, orgId: OrgId): Promise<UserId | null> {
  const row = await reader.org.findUnique({ where: { id: orgId } });
  return row === null ? null : UserId.parse(row.adminId);
}

export async function findOrgOfWorkspace(reader: Reader, workspaceId: WorkspaceId): Promise<Org | null> {
  const row = await reader.orgWorkspace.findUnique({ where: { workspaceId }, include: { org: true } });
  return row === null ? null : { id: OrgId.parse(row.org.id), name: row.org.name };
}

/** The organisation of each of these workspaces. Workspaces without one are omitted. */
export async function findOrgIds(reader: Reader, workspaceIds: readonly WorkspaceId[]): Promise<Map<string, OrgId>> {
  const rows = await reader.orgWorkspace.findMany({ where: { workspaceId: { in: [...workspaceIds] } } });
  return new Map(rows.map(({ workspaceId, orgId }) => [workspaceId, OrgId.parse(orgId)]));
}

/** The first workspace of an organisation. */
export async function findFirstWorkspace(reader: Reader, orgId: OrgId): Promise<Owned | null> {
  const row = await reader.orgWorkspace.findFirst({ where: { orgId }, orderBy: { addedAt: 'asc' } });
  return row === null ? null : ownedOf(row);
}

/** `false` when the person already has an organisation. */
export async function insertOrg(tx: Tx, org: Org & { adminId: UserId }, now: Date): Promise<boolean> {
  const { count } = await tx.org.createMany({ data: { ...org, createdAt: now }, skipDuplicates: true });
  return count === 1;
}

/** `false` when the workspace already has an organisation. */
export async function insertOrgWorkspace(
  tx: Tx,
  { workspaceId, orgId }: Pick<Owned, 'workspaceId' | 'orgId'>,
  now: Date,
): Promise<boolean> {
  const data = { workspaceId, orgId, addedAt: now };
  const { count } = await tx.orgWorkspace.createMany({ data, skipDuplicates: true });
  return count === 1;
}

export async function markPlaced(tx: Tx, workspaceId: WorkspaceId, now: Date): Promise<void> {
  await tx.orgWorkspace.updateMany({ where: { workspaceId, placedAt: null }, data: { placedAt: now } });
}

/** Workspaces that were not sent to the kernel yet, oldest first. */
export async function listUnplaced(reader: Reader, limit: number): Promise<Owned[]> {
  const rows = await reader.orgWorkspace.findMany({
    where: { placedAt: null },
    orderBy: { addedAt: 'asc' },
    take: limit,
  });
  return rows.map(ownedOf);
}

type Page = { limit: number; cursor?: string | undefined };

/** Organisations in the order of their ids, after the one that the cursor names. */
export async function listOrgs(reader: Reader, { limit, cursor }: Page): Promise<ListedOrg[]> {
  const rows = await reader.org.findMany({
    ...(cursor === undefined ? {} : { where: { id: { gt: cursor } } }),
    orderBy: { id: 'asc' },
    take: limit,
  });
  return rows.map(({ id, name, adminId, createdAt }) => ({
    org_id: OrgId.parse(id),
    name,
    admin_id: UserId.parse(adminId),
    created_at: instantOf(createdAt),
  }));
}

/** Workspaces of all organisations in the order of their ids, after the one that the cursor names. */
export async function listOrgWorkspaces(reader: Reader, { limit, cursor }: Page): Promise<ListedOrgWorkspace[]> {
  const rows = await reader.orgWorkspace.findMany({
    ...(cursor === undefined ? {} : { where: { workspaceId: { gt: cursor } } }),
    orderBy: { workspaceId: 'asc' },
    take: limit,
  });
  return rows.map(({ workspaceId, orgId, addedAt }) => ({
    workspace_id: WorkspaceId.parse(workspaceId),
    org_id: OrgId.parse(orgId),
    added_at: instantOf(addedAt),
  }));
}

export async function listWorkspaceIdsOf(reader: Reader, orgId: OrgId): Promise<WorkspaceId[]> {
  const rows = await reader.orgWorkspace.findMany({ where: { orgId }, select: { workspaceId: true } });
  return rows.map(({ workspaceId }) => WorkspaceId.parse(workspaceId));
}

function ownedOf(row: { workspaceId: string; orgId: string; placedAt: Date | null }): Owned {
  const { workspaceId, orgId, placedAt } = row;
  return { workspaceId: WorkspaceId.parse(workspaceId), orgId: OrgId.parse(orgId), isPlaced: placedAt !== null };
}
