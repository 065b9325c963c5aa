import { UserId, WorkspaceId } from '@countersign/contracts';
import type { ListedOrg, ListedOrgWorkspace } from '@countersign/contracts/control-plane';
import { OrgId } from '@countersign/contracts/governance-kernel';
import type { OrgModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';
import { makeEntitlementsDue } from './entitlement-states.ts';
import { markEffectsDue } from './scim-users.ts';
import { pageOf, readCursor, type PageOf } from './page-cursor.ts';

export type Org = { id: OrgId; name: string; adminId: UserId };

/** Stores an organisation if it is new. The name and the administrator never change at the control plane. */
export async function putOrg(tx: Tx, { org_id, name, admin_id, created_at }: ListedOrg): Promise<void> {
  const data = { id: org_id, name, adminId: admin_id, createdAt: new Date(created_at) };
  await tx.org.createMany({ data, skipDuplicates: true });
}

/**
 * Stores which organisation a new workspace belongs to. The event of the workspace may arrive before the event of its
 * organisation.
 */
export async function putOrgWorkspace(tx: Tx, { workspace_id, org_id, added_at }: ListedOrgWorkspace): Promise<void> {
  const data = { workspaceId: workspace_id, orgId: org_id, addedAt: new Date(added_at) };
  const { count } = await tx.orgWorkspace.createMany({ data, skipDuplicates: true });
  if (count === 0) return;
  await makeEntitlementsDue(tx, org_id);
  // Provisioned people of the organisation also get their role in the new workspace.
  await markEffectsDue(tx, org_id, 'all');
}

export async function findOrg(reader: Reader, orgId: OrgId): Promise<Org | null> {
  const row = await reader.org.findUnique({ where: { id: orgId } });
  return row === null ? null : orgOf(row);
}

/** Returns the organisation of a workspace. `null` when the workspace belongs to no organisation. */
export async function findOrgOfWorkspace(reader: Reader, workspaceId: WorkspaceId): Promise<OrgId | null> {
  const row = await reader.orgWorkspace.findUnique({ where: { workspaceId } });
  return row === null ? null : OrgId.parse(row.orgId);
}

/** Returns a page of all organisations, by ID. */
export async function listOrgs(
  reader: Reader,
  { limit, cursor }: PageOf,
): Promise<{ rows: Org[]; nextCursor: string | null }> {
  const after = readCursor(cursor, OrgId);
  const where = after === null ? {} : { id: { gt: after } };
  const found = await reader.org.findMany({ where, orderBy: { id: 'asc' }, take: limit + 1 });
  return pageOf(found.map(orgOf), limit, ({ id }) => id);
}

/**
 * Locks the projects of an organisation until the transaction ends. This is an advisory lock, because the row of the
 * organisation is append-only and cannot be locked.
 */
export async function lockProjects(tx: Tx, orgId: OrgId): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('projects of ' || ${orgId}, 0))`;
}

/** Returns the subset of these workspaces that belongs to the organisation. */
export async function listOwnWorkspaces(
  reader: Reader,
  orgId: OrgId,
  workspaceIds: readonly WorkspaceId[],
): Promise<ReadonlySet<WorkspaceId>> {
  if (workspaceIds.length === 0) return new Set();
  const rows = await reader.orgWorkspace.findMany({ where: { orgId, workspaceId: { in: [...workspaceIds] } } });
  return new Set(rows.map(({ workspaceId }) => WorkspaceId.parse(workspaceId)));
}

export async function listWorkspaceIdsOf(reader: Reader, orgId: OrgId): Promise<WorkspaceId[]> {
  const rows = await reader.orgWorkspace.findMany({ where: { orgId }, orderBy: { workspaceId: 'asc' } });
  return rows.map(({ workspaceId }) => WorkspaceId.parse(workspaceId));
}

function orgOf({ id, name, adminId }: OrgModel): Org {
  return { id: OrgId.parse(id), name, adminId: UserId.parse(adminId) };
}

/** Returns the sorted IDs of the workspaces that the organisation had before `end`. */
export async function listWorkspacesAddedBefore(reader: Reader, orgId: OrgId, end: Date): Promise<WorkspaceId[]> {
  const where = { orgId, addedAt: { lt: end } };
  const rows = await reader.orgWorkspace.findMany({ where, orderBy: { workspaceId: 'asc' } });
  return rows.map(({ workspaceId }) => WorkspaceId.parse(workspaceId));
}

export type OwnedWorkspace = { workspaceId: WorkspaceId; orgId: OrgId };

/** Returns workspaces of all organisations in the order of their IDs, starting after `after`. */
export async function listOwnedWorkspaces(
  reader: Reader,
  { after, limit }: { after: WorkspaceId | null; limit: number },
): Promise<OwnedWorkspace[]> {
  const rows = await reader.orgWorkspace.findMany({
    ...(after === null ? {} : { where: { workspaceId: { gt: after } } }),
    orderBy: { workspaceId: 'asc' },
    take: limit,
  });
  return rows.map(({ workspaceId, orgId }) => ({
    workspaceId: WorkspaceId.parse(workspaceId),
    orgId: OrgId.parse(orgId),
  }));
}
