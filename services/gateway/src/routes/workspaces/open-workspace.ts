import { openWorkspace } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handlePersonAct } from '../../handle.ts';
import { makeWorkspace, requireMayMake } from '../../identity/make-workspace.ts';

export const openWorkspaceRoute = (context: Context) =>
  handlePersonAct(context)(openWorkspace)(async (tx, { body: { name }, caller: { user }, requestId }) => {
    await requireMayMake(tx, context, user);
    const { workspaceId: id, workspaceName, role } = await makeWorkspace(tx, context, { owner: user, name, requestId });
    return { id, name: workspaceName, role };
  });
