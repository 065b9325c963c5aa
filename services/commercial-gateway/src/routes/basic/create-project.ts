import * as contract from '@countersign/contracts/commercial-gateway';
import { createProject } from '../../basic/create-project.ts';
import { projectView } from '../../basic/project-view.ts';
import type { Context } from '../../context.ts';
import { orgOfAdmin } from '../../directory/org-of-admin.ts';
import { handleBasic } from '../../handle.ts';

export const createProjectRoute = (context: Context) =>
  handleBasic(contract.createProject)(async ({ body, caller, requestId }) => {
    const { org_id, name, workspace_ids: workspaceIds } = body;
    const { id: orgId } = await orgOfAdmin(context, caller, org_id);
    const act = { actor: caller.userId, requestId };
    return projectView(await createProject(context, { orgId, name, workspaceIds }, act), null);
  });
