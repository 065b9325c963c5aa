import { joinByInvite } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handlePerson } from '../../handle.ts';
import { joinByInviteOf } from '../../members/join-by-invite.ts';

export const joinByInviteRoute = (context: Context) =>
  handlePerson(joinByInvite)(async ({ params: { inviteId }, caller: { user }, requestId }) => {
    const { workspaceId: id, workspaceName: name, role } = await joinByInviteOf(context, { inviteId, user, requestId });
    return { workspace: { id, name }, role };
  });
