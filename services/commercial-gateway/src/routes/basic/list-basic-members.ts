import { listBasicMembers } from '@countersign/contracts/commercial-gateway';
import { getConsoleWorkspace } from '@countersign/contracts/control-plane';
import { answerAsCaller } from '../../basic/answer-as-caller.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const listBasicMembersRoute = (context: Pick<Context, 'asCaller'>) =>
  handleWorkspace(listBasicMembers)(async ({ caller: { delegation, workspaceId: id } }) => {
    const client = context.asCaller(delegation, { getConsoleWorkspace });
    const { body } = await answerAsCaller(() => client.getConsoleWorkspace({ params: { id } }));
    return { data: body.members, next_cursor: null };
  });
