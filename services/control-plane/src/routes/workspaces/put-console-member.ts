import { UserId } from '@countersign/contracts';
import { putConsoleMember } from '@countersign/contracts/control-plane';
import { putMemberRole } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { answerOf } from '../../siblings/answer-of.ts';
import { knownId } from '../../siblings/known-id.ts';

export const putConsoleMemberRoute = ({ gateway }: Context) =>
  handleWorkspace(putConsoleMember)(async ({ params, body, caller: { workspaceId: id, delegation } }) => {
    const userId = knownId(UserId, params.user_id);
    const asPerson = gateway.as(delegation, { putMemberRole });
    const { role } = await answerOf('gateway', () => asPerson.putMemberRole({ params: { id, userId }, body }));
    return { user_id: userId, role };
  });
