import { AppError, Instant, type ApiKeyEnvironment } from '@countersign/contracts';
import type { Environment } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { recordAudit } from '../store/audit.ts';
import { findEnvironment, insertEnvironment, type StoredEnvironment } from '../store/environments.ts';
import { findOrgOfWorkspace } from '../store/orgs.ts';

type NewEnvironment = { environment: ApiKeyEnvironment; description: string };
type By = { caller: WorkspaceCaller; requestId: string };

/**
 * Opens an environment in the workspace. Throws NOT_FOUND when the workspace has no organisation, and ALREADY_EXISTS
 * when the environment is already open.
 */
export function createEnvironment(
  { transaction, now }: Pick<Context, 'transaction' | 'now'>,
  { environment, description }: NewEnvironment,
  { caller: { workspaceId, userId: createdBy }, requestId }: By,
): Promise<StoredEnvironment> {
  return transaction(async (tx) => {
    const orgId = await findOrgOfWorkspace(tx, workspaceId);
    if (orgId === null)
      throw new AppError('NOT_FOUND', 'The workspace has no organisation. Create one with POST /api/bootstrap');
    const createdAt = now();
    const opened = { workspaceId, environment, orgId, description, createdBy, createdAt };
    if (!(await insertEnvironment(tx, opened)))
      throw new AppError('ALREADY_EXISTS', `The environment ${environment} is open in this workspace already`, {
        param: 'environment',
      });
    const details = { workspace_id: workspaceId, environment, description };
    const act = {
      scope: orgId,
      action: 'environment.created',
      actor: createdBy,
      subject: workspaceId,
      requestId,
    } as const;
    await recordAudit(tx, { ...act, details, verdict: 'allow' }, createdAt);
    return opened;
  });
}

/** Throws INVALID_REQUEST when the environment is not open in the workspace. Keys exist only for open environments. */
export async function requireEnvironment(
  { database }: Pick<Context, 'database'>,
  { workspaceId }: Pick<WorkspaceCaller, 'workspaceId'>,
  environment: ApiKeyEnvironment,
): Promise<void> {
  if ((await findEnvironment(database.reader, workspaceId, environment)) !== null) return;
  const message = `environment is ${environment}, which is not open in this workspace. POST /api/basic/environments opens it`;
  throw new AppError('INVALID_REQUEST', message, { param: 'environment' });
}

export function environmentView({ workspaceId, environment, ...stored }: StoredEnvironment): Environment {
  return {
    ...{ workspace_id: workspaceId, environment, description: stored.description },
    principals: `key:${environment}:*`,
    created_by: stored.createdBy,
    created_at: Instant.parse(stored.createdAt.toISOString()),
  };
}
