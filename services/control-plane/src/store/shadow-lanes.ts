import { Digest, UserId, WorkspaceId } from '@countersign/contracts';
import { PolicyShadow } from '@countersign/contracts/control-plane';
import { LaneName, type OrgId } from '@countersign/contracts/governance-kernel';
import type { ShadowLane as Row } from '../generated/prisma/client.ts';
import type { Reader, Tx } from './database.ts';

export type StoredLane = {
  workspaceId: WorkspaceId;
  lane: LaneName;
  policyHash: Digest;
  bundle: string;
  version: number;
  state: PolicyShadow['state'];
  setBy: UserId;
  setAt: Date;
};

type Named = Pick<StoredLane, 'workspaceId' | 'lane'>;
type OfVersion = Named & Pick<StoredLane, 'version'>;

/** The lanes of a workspace, by name. */
export async function listLanes(reader: Reader, workspaceId: WorkspaceId): Promise<StoredLane[]> {
  const rows = await reader.shadowLane.findMany({ where: { workspaceId }, orderBy: { lane: 'asc' } });
  return rows.map(laneOf);
}

/** The lanes of an organisation. A caller that compares their number with a limit must have locked the limits. */
export async function countLanes(tx: Reader, orgId: OrgId): Promise<number> {
  const owned = await tx.orgWorkspace.findMany({ where: { orgId }, select: { workspaceId: true } });
  return await tx.shadowLane.count({ where: { workspaceId: { in: owned.map((row) => row.workspaceId) } } });
}

export async function findLane(reader: Reader, { workspaceId, lane }: Named): Promise<StoredLane | null> {
  const row = await reader.shadowLane.findUnique({ where: { workspaceId_lane: { workspaceId, lane } } });
  return row === null ? null : laneOf(row);
}

/** Locks the lanes of the workspace until the end of the transaction. Records are counted from `place` on. */
export async function lockLanes(tx: Tx, workspaceId: WorkspaceId, { place, now }: { place: number; now: Date }) {
  await tx.shadowReading.createMany({ data: { workspaceId, place, readAt: now }, skipDuplicates: true });
  await tx.$executeRaw`SELECT FROM shadow_readings WHERE workspace_id = ${workspaceId} FOR UPDATE`;
}

/** Stores the terms of a lane that must still be delivered to the kernel. */
export async function writeLane(tx: Tx, lane: StoredLane): Promise<void> {
  const { workspaceId, lane: name, ...rest } = lane;
  const changed = { ...rest, deliverAt: rest.setAt };
  const where = { workspaceId_lane: { workspaceId, lane: name } };
  await tx.shadowLane.upsert({ where, create: { workspaceId, lane: name, ...changed }, update: changed });
}

export async function endLane(tx: Tx, { workspaceId, lane, version }: OfVersion, now: Date): Promise<void> {
  const data = { state: 'ending', version: version + 1, deliverAt: now };
  await tx.shadowLane.updateMany({ where: { workspaceId, lane, version }, data });
}

/** Lanes that must be delivered to the kernel, the longest waiting first. */
export async function listUndelivered(reader: Reader, now: Date, limit: number): Promise<Named[]> {
  const where = { deliverAt: { lte: now } };
  const rows = await reader.shadowLane.findMany({ where, orderBy: { deliverAt: 'asc' }, take: limit });
  return rows.map(laneOf);
}

/** Records that the kernel evaluates calls by this lane. `false` when the lane was changed in the meantime. */
export async function noteStanding(tx: Tx, { workspaceId, lane, version }: OfVersion, next: Date): Promise<boolean> {
  const where = { workspaceId, lane, version };
  const { count } = await tx.shadowLane.updateMany({ where, data: { state: 'standing', deliverAt: next } });
  return count === 1;
}

/** Postpones the next delivery of a lane, so that other lanes come first. */
export async function delayLane(tx: Tx, { workspaceId, lane }: Named, next: Date): Promise<void> {
  await tx.shadowLane.updateMany({ where: { workspaceId, lane }, data: { deliverAt: next } });
}

/** Removes a lane and its counts. `false` when it was changed in the meantime. */
export async function removeLane(tx: Tx, { workspaceId, lane, version }: OfVersion): Promise<boolean> {
  await tx.$executeRaw`SELECT FROM shadow_readings WHERE workspace_id = ${workspaceId} FOR UPDATE`;
  const { count } = await tx.shadowLane.deleteMany({ where: { workspaceId, lane, version } });
  if (count === 0) return false;
  await tx.shadowHour.deleteMany({ where: { workspaceId, lane } });
  if ((await tx.shadowLane.count({ where: { workspaceId } })) === 0)
    await tx.shadowReading.deleteMany({ where: { workspaceId } });
  return true;
}

function laneOf(row: Row): StoredLane {
  const { bundle, version, setAt } = row;
  return {
    ...{ bundle, version, setAt },
    workspaceId: WorkspaceId.parse(row.workspaceId),
    lane: LaneName.parse(row.lane),
    policyHash: Digest.parse(row.policyHash),
    state: PolicyShadow.shape.state.parse(row.state),
    setBy: UserId.parse(row.setBy),
  };
}
