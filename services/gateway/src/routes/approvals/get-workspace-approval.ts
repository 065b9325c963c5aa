import { getWorkspaceApproval } from '@countersign/contracts/gateway';
import { findObstacle } from '../../approvals/find-obstacles.ts';
import type { Context } from '../../context.ts';
import { notFound } from '../../not-found.ts';
import { handleWorkspace } from '../../handle.ts';
import { findApproval } from '../../store/approvals.ts';

export const getWorkspaceApprovalRoute = ({ database }: Context) =>
  handleWorkspace(getWorkspaceApproval)(async ({ params: { id }, caller }) => {
    const stored = await findApproval(database.reader, caller.workspaceId, id);
    if (stored === null) throw notFound();
    const { stepId: _step, held: _held, ...approval } = stored;
    const obstacle = await findObstacle(database.reader, stored, { ...caller, resolver: caller.actor });
    return { ...approval, mayResolve: obstacle === null };
  });
