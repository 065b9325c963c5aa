import { Digest, InstallId, UserId, WorkspaceId } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { ConnectorInstall as Row } from '../generated/prisma/client.ts';
import type { Reader, Tx } from './database.ts';

export type StoredInstall = {
  id: InstallId;
  workspaceId: WorkspaceId;
  connectorId: string;
  version: string;
  serverJsonHash: Digest;
  url: string;
  attempt: string;
  installedBy: UserId;
  installedAt: Date;
  disabledBy: UserId | null;
  disabledAt: Date | null;
};

type Named = Pick<StoredInstall, 'workspaceId' | 'connectorId'>;

/** Installs of a workspace, including disabled ones, by the name of the connector. */
export async function listInstalls(
  reader: Reader,
  workspaceId: WorkspaceId,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<StoredInstall[]> {
  const rows = await reader.connectorInstall.findMany({
    where: { workspaceId, ...(cursor === undefined ? {} : { connectorId: { gt: cursor } }) },
    orderBy: { connectorId: 'asc' },
    take: limit,
  });
  return rows.map(installOf);
}

/** Installs of these connectors, including disabled ones, by the name of the connector. */
export async function findInstalls(
  reader: Reader,
  workspaceId: WorkspaceId,
  connectorIds: readonly string[],
): Promise<Map<string, StoredInstall>> {
  const where = { workspaceId, connectorId: { in: [...connectorIds] } };
  const rows = await reader.connectorInstall.findMany({ where });
  return new Map(rows.map((row) => [row.connectorId, installOf(row)]));
}

export async function findInstall(reader: Reader, { workspaceId, connectorId }: Named): Promise<StoredInstall | null> {
  const where = { workspaceId_connectorId: { workspaceId, connectorId } };
  const row = await reader.connectorInstall.findUnique({ where });
  return row === null ? null : installOf(row);
}

export async function findInstallById(
  reader: Reader,
  { workspaceId, id }: Pick<StoredInstall, 'workspaceId' | 'id'>,
): Promise<StoredInstall | null> {
  const row = await reader.connectorInstall.findFirst({ where: { id, workspaceId } });
  return row === null ? null : installOf(row);
}

/** Serialises installs of one connector in one workspace until the end of the transaction. */
export async function lockInstall(tx: Tx, { workspaceId, connectorId }: Named): Promise<StoredInstall | null> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`connector ${workspaceId} ${connectorId}`}, 0))`;
  return await findInstall(tx, { workspaceId, connectorId });
}

/**
 * Counts the installs of the organisation that are not disabled. A caller that compares the count with a limit must
 * have locked the limits.
 */
export async function countInstalls(tx: Reader, orgId: OrgId): Promise<number> {
  const owned = await tx.orgWorkspace.findMany({ where: { orgId }, select: { workspaceId: true } });
  const workspaceId = { in: owned.map((row) => row.workspaceId) };
  return await tx.connectorInstall.count({ where: { workspaceId, disabledAt: null } });
}

export async function writeInstall(tx: Tx, install: StoredInstall): Promise<void> {
  const { id, workspaceId, connectorId, ...changed } = install;
  const where = { workspaceId_connectorId: { workspaceId, connectorId } };
  await tx.connectorInstall.upsert({ where, create: install, update: changed });
}

/** Undoes what a request wrote, unless another request has written since. `false` in that case. */
export async function takeBackInstall(
  tx: Tx,
  { id, workspaceId, attempt }: StoredInstall,
  before: StoredInstall | null,
): Promise<boolean> {
  const where = { id, workspaceId, attempt };
  if (before === null) return (await tx.connectorInstall.deleteMany({ where })).count === 1;
  const { id: _, workspaceId: _workspace, connectorId: _connector, ...data } = before;
  return (await tx.connectorInstall.updateMany({ where, data })).count === 1;
}

/** `false` when another request has disabled it, or installed it again. */
export async function markDisabled(
  tx: Tx,
  { id, workspaceId, attempt }: StoredInstall,
  by: { disabledBy: UserId; disabledAt: Date },
): Promise<boolean> {
  const { count } = await tx.connectorInstall.updateMany({
    where: { id, workspaceId, attempt, disabledAt: null },
    data: by,
  });
  return count === 1;
}

function installOf(row: Row): StoredInstall {
  const { disabledBy } = row;
  return {
    ...row,
    id: InstallId.parse(row.id),
    workspaceId: WorkspaceId.parse(row.workspaceId),
    serverJsonHash: Digest.parse(row.serverJsonHash),
    installedBy: UserId.parse(row.installedBy),
    disabledBy: disabledBy === null ? null : UserId.parse(disabledBy),
  };
}
