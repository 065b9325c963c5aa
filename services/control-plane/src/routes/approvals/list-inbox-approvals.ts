import { listInboxApprovals } from '@countersign/contracts/control-plane';
import { listApprovals } from '@countersign/contracts/governance-kernel';
import { withObstacles } from '../../approvals/with-obstacles.ts';
import type { Context } from '../../context.ts';
import { handleKeyed } from '../../handle.ts';
import { answerOf } from '../../siblings/answer-of.ts';

export const listInboxApprovalsRoute = (context: Context) =>
  handleKeyed(listInboxApprovals)(async ({ caller, query, signal }) => {
    const asPerson = context.kernel.as(caller.assertion, { listApprovals });
    const { data, next_cursor } = await answerOf('kernel', () => asPerson.listApprovals({ query, signal }));
    return { data: await withObstacles(context, data, caller), next_cursor };
  });
