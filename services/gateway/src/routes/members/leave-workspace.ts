import { leaveWorkspace } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { endMembership } from '../../members/change-members.ts';
import { deliverChange } from '../../members/deliver-members.ts';

export const leaveWorkspaceRoute = (context: Context) =>
  handleWorkspace(leaveWorkspace)(async ({ caller, requestId }) => {
    await endMembership(context, { caller, userId: caller.user.id, requestId });
    await deliverChange(context, caller.workspaceId);
    return { ok: true as const };
  });
