import { UserId } from '@countersign/contracts';
import { deleteConsoleMember } from '@countersign/contracts/control-plane';
import { removeMember } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { answerOf } from '../../siblings/answer-of.ts';
import { knownId } from '../../siblings/known-id.ts';

export const deleteConsoleMemberRoute = ({ gateway }: Context) =>
  handleWorkspace(deleteConsoleMember)(async ({ params, caller: { workspaceId: id, delegation } }) => {
    const userId = knownId(UserId, params.user_id);
    const asPerson = gateway.as(delegation, { removeMember });
    await answerOf('gateway', () => asPerson.removeMember({ params: { id, userId } }));
    return { removed: true as const };
  });
