import { AccessKeyId, InstallId, PrincipalId, ShimId, UserId, WorkspaceId } from '@countersign/contracts';
import type { ConnectorShim as Row } from '../generated/prisma/client.ts';
import type { Reader, Tx } from './database.ts';

export type StoredShim = {
  id: ShimId;
  workspaceId: WorkspaceId;
  installId: InstallId;
  client: string;
  principal: PrincipalId;
  /** `null` until the kernel has confirmed the key. */
  keyId: AccessKeyId | null;
  createdBy: UserId;
  createdAt: Date;
  expiresAt: Date;
  revokedBy: UserId | null;
  revokedAt: Date | null;
};

type OfInstall = Pick<StoredShim, 'workspaceId' | 'installId'>;

/** Shims of an install, newest first, including revoked ones. */
export async function listShims(
  reader: Reader,
  { workspaceId, installId }: OfInstall,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<StoredShim[]> {
  const rows = await reader.connectorShim.findMany({
    where: { workspaceId, installId, ...(cursor === undefined ? {} : { id: { lt: cursor } }) },
    orderBy: { id: 'desc' },
    take: limit,
  });
  return rows.map(shimOf);
}

/** Shims of an install that were not revoked, newest first. */
export async function listLiveShims(reader: Reader, { workspaceId, installId }: OfInstall): Promise<StoredShim[]> {
  const where = { workspaceId, installId, revokedAt: null };
  return (await reader.connectorShim.findMany({ where, orderBy: { id: 'desc' } })).map(shimOf);
}

export async function findShim(
  reader: Reader,
  { workspaceId, installId, id }: OfInstall & Pick<StoredShim, 'id'>,
): Promise<StoredShim | null> {
  const row = await reader.connectorShim.findFirst({ where: { id, workspaceId, installId } });
  return row === null ? null : shimOf(row);
}

export async function insertShim(tx: Tx, shim: StoredShim): Promise<void> {
  await tx.connectorShim.create({ data: shim });
}

/** Removes a shim whose key the kernel refused. */
export async function deleteShim(tx: Tx, { id, workspaceId }: StoredShim): Promise<void> {
  await tx.connectorShim.deleteMany({ where: { id, workspaceId, keyId: null } });
}

/** `false` when the shim was revoked in the meantime. */
export async function confirmShim(tx: Tx, { id, workspaceId }: StoredShim, keyId: AccessKeyId): Promise<boolean> {
  const where = { id, workspaceId, revokedAt: null };
  return (await tx.connectorShim.updateMany({ where, data: { keyId } })).count === 1;
}

/** `false` when the shim was revoked before. */
export async function markShimRevoked(
  tx: Tx,
  { id, workspaceId }: StoredShim,
  end: { keyId: AccessKeyId | null; revokedBy: UserId; revokedAt: Date },
): Promise<boolean> {
  const where = { id, workspaceId, revokedAt: null };
  return (await tx.connectorShim.updateMany({ where, data: end })).count === 1;
}

function shimOf(row: Row): StoredShim {
  const { keyId, revokedBy } = row;
  return {
    ...row,
    id: ShimId.parse(row.id),
    workspaceId: WorkspaceId.parse(row.workspaceId),
    installId: InstallId.parse(row.installId),
    principal: PrincipalId.parse(row.principal),
    keyId: keyId === null ? null : AccessKeyId.parse(keyId),
    createdBy: UserId.parse(row.createdBy),
    revokedBy: revokedBy === null ? null : UserId.parse(revokedBy),
  };
}
