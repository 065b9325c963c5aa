import { UserId } from '@countersign/contracts';
import { putMemberRole } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { deliverChange } from '../../members/deliver-members.ts';
import { handleWorkspace } from '../../handle.ts';
import { changeRole } from '../../members/change-members.ts';

export const putMemberRoleRoute = (context: Context) =>
  handleWorkspace(putMemberRole)(async ({ params: { userId }, body: { role }, caller, requestId }) => {
    await changeRole(context, { caller, userId, role, requestId });
    await deliverChange(context, caller.workspaceId);
    return { userId: UserId.parse(userId), role };
  });
