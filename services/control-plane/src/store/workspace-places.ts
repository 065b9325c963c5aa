import type { WorkspaceId } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Tx } from './database.ts';

/** Identifies a place: one request of an organisation. */
export type PlaceKey = { orgId: OrgId; request: string };

/** The time for which an interrupted request keeps its place. */
const reservedMs = 600_000;
/** Longer than an Idempotency-Key is stored. */
const keptMs = 2 * 86_400_000;

export async function hasPlace(tx: Tx, { orgId, request }: PlaceKey): Promise<boolean> {
  return (await tx.workspacePlace.count({ where: { orgId, request } })) > 0;
}

/** Counts the workspaces of an organisation, including those in creation. Requires the lock of its limits. */
export async function countPlaces(tx: Tx, orgId: OrgId, now: Date): Promise<number> {
  const workspaces = await tx.orgWorkspace.count({ where: { orgId } });
  const since = new Date(now.getTime() - reservedMs);
  const reserved = await tx.workspacePlace.count({ where: { orgId, workspaceId: null, createdAt: { gt: since } } });
  return workspaces + reserved;
}

/** Reserves a place, and removes places that no request needs any more. */
export async function insertPlace(tx: Tx, { orgId, request }: PlaceKey, now: Date): Promise<void> {
  await tx.workspacePlace.deleteMany({ where: { orgId, createdAt: { lt: new Date(now.getTime() - keptMs) } } });
  await tx.workspacePlace.create({ data: { orgId, request, createdAt: now } });
}

/** Assigns the created workspace to its place. From then on, only the workspace counts. */
export async function fillPlace(tx: Tx, { orgId, request }: PlaceKey, workspaceId: WorkspaceId): Promise<void> {
  await tx.workspacePlace.updateMany({ where: { orgId, request }, data: { workspaceId } });
}

/** Releases a place whose workspace was not created. */
export async function dropPlace(tx: Tx, { orgId, request }: PlaceKey): Promise<void> {
  await tx.workspacePlace.deleteMany({ where: { orgId, request, workspaceId: null } });
}
