import { createBasicWorkspace } from '@countersign/contracts/commercial-gateway';
import { createConsoleWorkspace } from '@countersign/contracts/control-plane';
import { AppError } from '@countersign/contracts';
import { answer } from '@countersign/service-kit';
import { addToProject, projectOfAdmin, requireRoom } from '../../basic/add-to-project.ts';
import { answerAsCaller, headersOf } from '../../basic/answer-as-caller.ts';
import type { Context } from '../../context.ts';
import { handleBasic } from '../../handle.ts';

/**
 * The gateway stores the Idempotency-Key in the transaction that creates the workspace. Adding the workspace to a
 * project twice has no effect.
 */
export const createBasicWorkspaceRoute = (context: Context) =>
  handleBasic(createBasicWorkspace, { idempotency: 'handler' })(
    async ({ body, caller, req, idempotency, requestId }) => {
      const { name, project_id: projectId } = body;
      const project = projectId === undefined ? null : await projectOfAdmin(context, caller.userId, projectId);
      if (project !== null) requireRoom(project);
      const client = context.asCaller(caller.delegation, { createConsoleWorkspace });
      const headers = headersOf({ req, idempotency }, {});
      const created = await answerAsCaller(() => client.createConsoleWorkspace({ body: { name }, headers }));
      const { workspace_id: workspaceId, org_id: orgId } = created.body;
      if (project !== null) {
        if (orgId !== project.orgId)
          throw new AppError(
            'NOT_FOUND',
            'This object does not exist, or you have no access to it. Check its ID and the workspace',
          );
        await addToProject(context, { project, workspaceId }, { actor: caller.userId, requestId });
      }
      const project_ids = project === null ? [] : [project.id];
      return answer(created.status, { ...created.body, project_ids }, created.headers);
    },
  );
