import { createConsoleMember } from '@countersign/contracts/control-plane';
import { createInvite } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { answerOf } from '../../siblings/answer-of.ts';

export const createConsoleMemberRoute = ({ gateway }: Context) =>
  handleWorkspace(createConsoleMember)(async ({ body, caller: { workspaceId: id, delegation } }) => {
    const asPerson = gateway.as(delegation, { createInvite });
    const { inviteUrl, role, mailed } = await answerOf('gateway', () =>
      asPerson.createInvite({ params: { id }, body }),
    );
    return { invite_url: inviteUrl, role, mailed };
  });
