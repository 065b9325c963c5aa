import { removeMember } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { deliverChange } from '../../members/deliver-members.ts';
import { handleWorkspace } from '../../handle.ts';
import { endMembership } from '../../members/change-members.ts';

export const removeMemberRoute = (context: Context) =>
  handleWorkspace(removeMember)(async ({ params: { userId }, caller, requestId }) => {
    await endMembership(context, { caller, userId, requestId });
    await deliverChange(context, caller.workspaceId);
    return { ok: true as const };
  });
