import { ApiKeyEnvironment, UserId, WorkspaceId } from '@countersign/contracts';
import { OrgId } from '@countersign/contracts/governance-kernel';
import type { EnvironmentModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';

export type StoredEnvironment = {
  workspaceId: WorkspaceId;
  environment: ApiKeyEnvironment;
  orgId: OrgId;
  description: string;
  createdBy: UserId;
  createdAt: Date;
};

/** Returns false when the environment is already open in the workspace. */
export async function insertEnvironment(tx: Tx, environment: StoredEnvironment): Promise<boolean> {
  return (await tx.environment.createMany({ data: environment, skipDuplicates: true })).count === 1;
}

/** Returns the open environments of a workspace, at most one of each name. */
export async function listEnvironments(reader: Reader, workspaceId: WorkspaceId): Promise<StoredEnvironment[]> {
  const rows = await reader.environment.findMany({ where: { workspaceId }, orderBy: { environment: 'asc' } });
  return rows.map(environmentOf);
}

export async function findEnvironment(
  reader: Reader,
  workspaceId: WorkspaceId,
  environment: ApiKeyEnvironment,
): Promise<StoredEnvironment | null> {
  const row = await reader.environment.findFirst({ where: { workspaceId, environment } });
  return row === null ? null : environmentOf(row);
}

function environmentOf({ workspaceId, environment, orgId, createdBy, ...row }: EnvironmentModel): StoredEnvironment {
  return {
    ...row,
    workspaceId: WorkspaceId.parse(workspaceId),
    environment: ApiKeyEnvironment.parse(environment),
    orgId: OrgId.parse(orgId),
    createdBy: UserId.parse(createdBy),
  };
}
