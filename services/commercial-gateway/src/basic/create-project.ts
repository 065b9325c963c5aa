import { AppError, type UserId, type WorkspaceId } from '@countersign/contracts';
import { basicLimits } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { newProjectId } from '../ids.ts';
import { recordAudit } from '../store/audit.ts';
import { listOwnWorkspaces, lockProjects } from '../store/orgs.ts';
import { countProjects, insertProject, insertProjectWorkspaces, type StoredProject } from '../store/projects.ts';

type NewProject = { orgId: OrgId; name: string; workspaceIds: readonly WorkspaceId[] };
type Act = { actor: UserId; requestId: string };

/**
 * Throws NOT_FOUND for a workspace outside the organisation, ALREADY_EXISTS for a name in use, and RATE_LIMITED when
 * the organisation has too many projects.
 */
export function createProject(
  { transaction, now }: Pick<Context, 'transaction' | 'now'>,
  { orgId, name, workspaceIds }: NewProject,
  { actor, requestId }: Act,
): Promise<StoredProject> {
  return transaction(async (tx) => {
    await lockProjects(tx, orgId);
    const own = await listOwnWorkspaces(tx, orgId, workspaceIds);
    if (own.size < workspaceIds.length)
      throw new AppError(
        'NOT_FOUND',
        'This object does not exist, or you have no access to it. Check its ID and the workspace',
      );
    if ((await countProjects(tx, orgId)) >= basicLimits.projectsPerOrg)
      throw new AppError(
        'RATE_LIMITED',
        `The organisation has ${basicLimits.projectsPerOrg} projects, which is the limit`,
      );
    const createdAt = now();
    const project = { id: newProjectId(), orgId, name, createdBy: actor, createdAt };
    if (!(await insertProject(tx, project)))
      throw new AppError('ALREADY_EXISTS', `The organisation has a project named ${name}. Choose another name`, {
        param: 'name',
      });
    await insertProjectWorkspaces(tx, project, workspaceIds);
    const details = { name, workspace_ids: [...workspaceIds] };
    const act = { scope: orgId, action: 'project.created', actor, subject: project.id, requestId, details } as const;
    await recordAudit(tx, { ...act, verdict: 'allow' }, createdAt);
    return { ...project, workspaceIds: [...workspaceIds].sort() };
  });
}
