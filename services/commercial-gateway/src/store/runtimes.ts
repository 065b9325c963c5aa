import { WorkspaceId } from '@countersign/contracts';
import { LaneState } from '@countersign/contracts/gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { RuntimeModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';

/** The last requested lane of a workspace. */
export type StoredRuntime = {
  workspaceId: WorkspaceId;
  lane: LaneState;
  version: number;
  confirmedVersion: number;
  /** `null` when the gateway did not refuse the request. */
  failure: string | null;
  changedBy: string;
  changedAt: Date;
};

type NewRequest = { workspaceId: WorkspaceId; orgId: OrgId; lane: LaneState; changedBy: string };

export async function findRuntime(reader: Reader, workspaceId: WorkspaceId): Promise<StoredRuntime | null> {
  const row = await reader.runtime.findUnique({ where: { workspaceId } });
  return row === null ? null : runtimeOf(row);
}

/**
 * Stores a request with the next version. Returns false when the last request has the same lane and was not refused.
 * That request stays in force.
 */
export async function writeRequest(tx: Tx, request: NewRequest, now: Date): Promise<boolean> {
  const { workspaceId, orgId, lane, changedBy } = request;
  return (
    (await tx.$executeRaw`
      INSERT INTO runtimes (workspace_id, org_id, lane, version, changed_by, changed_at, due_at)
      VALUES (${workspaceId}, ${orgId}, ${lane}, 1, ${changedBy}, ${now}, ${now})
      ON CONFLICT (workspace_id) DO UPDATE
        SET lane = excluded.lane, version = runtimes.version + 1, failure = NULL, changed_by = excluded.changed_by,
            changed_at = excluded.changed_at, due_at = excluded.due_at
        WHERE runtimes.lane <> excluded.lane OR runtimes.failure IS NOT NULL`) === 1
  );
}

type Version = { workspaceId: WorkspaceId; version: number };

/** Confirms a request if it is the latest one. */
export async function confirmRequest(tx: Tx, { workspaceId, version }: Version): Promise<void> {
  await tx.runtime.updateMany({ where: { workspaceId, version }, data: { confirmedVersion: version, failure: null } });
}

export async function failRequest(tx: Tx, { workspaceId, version }: Version, failure: string): Promise<void> {
  await tx.runtime.updateMany({ where: { workspaceId, version }, data: { failure } });
}

export async function delayRequest(tx: Tx, { workspaceId, version }: Version, dueAt: Date): Promise<void> {
  await tx.runtime.updateMany({ where: { workspaceId, version }, data: { dueAt } });
}

/**
 * Raises the version of the latest request above the version at the gateway, because this database was restored and the
 * gateway's was not. Returns false when there is a later request.
 */
export async function raiseRequest(tx: Tx, { workspaceId, version }: Version, above: number): Promise<boolean> {
  const { count } = await tx.runtime.updateMany({ where: { workspaceId, version }, data: { version: above + 1 } });
  return count === 1;
}

/**
 * Marks the request for another delivery. The gateway has lost the confirmed version, because its database was restored
 * and this one was not.
 */
export async function unconfirmRequest(tx: Tx, { workspaceId, version }: Version, dueAt: Date): Promise<void> {
  await tx.runtime.updateMany({ where: { workspaceId, version }, data: { confirmedVersion: 0, dueAt } });
}

/** Returns the workspaces with a request that is due for delivery, the longest due first. */
export async function listDueRequests(tx: Tx, now: Date, limit: number): Promise<WorkspaceId[]> {
  const rows = await tx.$queryRaw<{ workspace_id: string }[]>`
    SELECT workspace_id FROM runtimes WHERE confirmed_version < version AND failure IS NULL AND due_at <= ${now}
     ORDER BY due_at LIMIT ${limit}::int`;
  return rows.map(({ workspace_id }) => WorkspaceId.parse(workspace_id));
}

function runtimeOf({
  workspaceId,
  lane,
  version,
  confirmedVersion,
  failure,
  changedBy,
  changedAt,
}: RuntimeModel): StoredRuntime {
  const request = { workspaceId: WorkspaceId.parse(workspaceId), lane: LaneState.parse(lane), version };
  return { ...request, confirmedVersion, failure, changedBy, changedAt };
}
