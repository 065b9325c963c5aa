import { removeMember } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { handleWorkspace } from '../handle.ts';
import { endMembership } from '../members/change-members.ts';

export const removeMemberRoute = (context: Context) =>
  handleWorkspace(removeMember)(async ({ params: { userId }, caller, requestId }) => {
    await endMembership(context, { caller, userId, requestId });
    return { ok: true as const };
  });
