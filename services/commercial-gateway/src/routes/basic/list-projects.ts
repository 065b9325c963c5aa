import { AppError } from '@countersign/contracts';
import { listProjects } from '@countersign/contracts/commercial-gateway';
import { projectView } from '../../basic/project-view.ts';
import type { Context } from '../../context.ts';
import { orgOfAdmin } from '../../directory/org-of-admin.ts';
import type { BasicCaller } from '../../guards.ts';
import { handleBasic } from '../../handle.ts';
import { findOrgOfWorkspace } from '../../store/orgs.ts';
import * as store from '../../store/projects.ts';

export const listProjectsRoute = (context: Pick<Context, 'database'>) =>
  handleBasic(listProjects)(async ({ query: { org_id, ...page }, caller }) => {
    const { workspaceId } = caller;
    const orgId = await orgFor(context, caller, org_id);
    if (orgId === null) return { data: [], next_cursor: null };
    const listed = { orgId, workspaceId, ...page };
    const { rows, nextCursor } = await store.listProjects(context.database.reader, listed);
    return { data: rows.map((project) => projectView(project, workspaceId)), next_cursor: nextCursor };
  });

/**
 * Returns the organisation that a person administers, or that owns the workspace of an API key. `null` when that
 * workspace has no organisation.
 */
async function orgFor(context: Pick<Context, 'database'>, caller: BasicCaller, orgId: string | undefined) {
  if (caller.workspaceId === null) {
    if (orgId !== undefined) return (await orgOfAdmin(context, caller, orgId)).id;
    throw new AppError('INVALID_REQUEST', 'org_id is missing. Name an organisation that you administer', {
      param: 'org_id',
    });
  }
  const own = await findOrgOfWorkspace(context.database.reader, caller.workspaceId);
  if (orgId !== undefined && orgId !== own)
    throw new AppError(
      'NOT_FOUND',
      'This object does not exist, or you have no access to it. Check its ID and the workspace',
    );
  return own;
}
