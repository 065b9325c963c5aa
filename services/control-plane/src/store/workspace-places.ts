import type { WorkspaceId } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Tx } from './database.ts';

/** Which place: of one request of an organisation. */
export type PlaceKey = { orgId: OrgId; request: string };

/** A request that died holds its place for so long. */
const reservedMs = 600_000;
/** Longer than an Idempotency-Key is kept. */
const keptMs = 2 * 86_400_000;

export async function hasPlace(tx: Tx, { orgId, request }: PlaceKey): Promise<boolean> {
  return (await tx.workspacePlace.count({ where: { orgId, request } })) > 0;
}

/** Workspaces of an organisation, and those that are being made. Call it with the lock of its limits. */
export async function countPlaces(tx: Tx, orgId: OrgId, now: Date): Promise<number> {
  const workspaces = await tx.orgWorkspace.count({ where: { orgId } });
  const since = new Date(now.getTime() - reservedMs);
  const reserved = await tx.workspacePlace.count({ where: { orgId, workspaceId: null, createdAt: { gt: since } } });
  return workspaces + reserved;
}

/** Reserves a place, and removes those that no request needs any more. */
export async function insertPlace(tx: Tx, { orgId, request }: PlaceKey, now: Date): Promise<void> {
  await tx.workspacePlace.deleteMany({ where: { orgId, createdAt: { lt: new Date(now.getTime() - keptMs) } } });
  await tx.workspacePlace.create({ data: { orgId, request, createdAt: now } });
}

/** The workspace counts by itself now. */
export async function fillPlace(tx: Tx, { orgId, request }: PlaceKey, workspaceId: WorkspaceId): Promise<void> {
  await tx.workspacePlace.updateMany({ where: { orgId, request }, data: { workspaceId } });
}

/** Gives back a place whose workspace was not made. */
export async function dropPlace(tx: Tx, { orgId, request }: PlaceKey): Promise<void> {
  await tx.workspacePlace.deleteMany({ where: { orgId, request, workspaceId: null } });
}
