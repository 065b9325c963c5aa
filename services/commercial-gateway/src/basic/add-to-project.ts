import { AppError, type ProjectId, type UserId, type WorkspaceId } from '@countersign/contracts';
import { basicLimits } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../context.ts';
import { recordAudit } from '../store/audit.ts';
import { findOrg, lockProjects } from '../store/orgs.ts';
import { findProject, insertProjectWorkspaces, type StoredProject } from '../store/projects.ts';

/** Returns a project of an organisation that the person administers. Throws NOT_FOUND. */
export async function projectOfAdmin(
  { database: { reader } }: Pick<Context, 'database'>,
  userId: UserId,
  projectId: ProjectId,
): Promise<StoredProject> {
  const project = await findProject(reader, projectId);
  const org = project === null ? null : await findOrg(reader, project.orgId);
  if (project === null || org?.adminId !== userId)
    throw new AppError(
      'NOT_FOUND',
      'This object does not exist, or you have no access to it. Check its ID and the workspace',
    );
  return project;
}

/** Throws RATE_LIMITED when the project has no room for another workspace. */
export function requireRoom({ workspaceIds }: StoredProject): void {
  const { workspacesPerProject: limit } = basicLimits;
  if (workspaceIds.length >= limit)
    throw new AppError('RATE_LIMITED', `The project has ${limit} workspaces, which is the limit. Use another project`);
}

type Act = { actor: UserId; requestId: string };

/** Adds a new workspace to the project. A repeated call changes nothing. */
export function addToProject(
  { transaction, now }: Pick<Context, 'transaction' | 'now'>,
  { project, workspaceId }: { project: StoredProject; workspaceId: WorkspaceId },
  { actor, requestId }: Act,
): Promise<void> {
  const { id: subject, orgId: scope } = project;
  return transaction(async (tx) => {
    await lockProjects(tx, scope);
    if ((await insertProjectWorkspaces(tx, project, [workspaceId])) === 0) return;
    const details = { workspace_id: workspaceId };
    const act = { scope, action: 'project.workspace_added', actor, subject, requestId, details } as const;
    await recordAudit(tx, { ...act, verdict: 'allow' }, now());
  });
}
