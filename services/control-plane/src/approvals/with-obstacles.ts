import type { InboxApproval } from '@countersign/contracts/control-plane';
import { checkResolver } from '@countersign/contracts/gateway';
import type { Approval } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { KeyedCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { obstacleOf } from './obstacle-of.ts';

/**
 * Adds to each approval whether the caller may approve it and, if it is pending, the obstacle. Throws
 * GATEWAY_UNAVAILABLE.
 */
export async function withObstacles(
  { gateway }: Pick<Context, 'gateway'>,
  approvals: readonly Approval[],
  caller: KeyedCaller,
): Promise<InboxApproval[]> {
  const pending = approvals.filter(({ state }) => state === 'pending');
  if (pending.length === 0) return approvals.map((approval) => ({ ...approval, may_decide: false, obstacle: null }));
  // An API key cannot decide.
  if ('isKey' in caller)
    return approvals.map((approval) => {
      const obstacle = pending.includes(approval) ? ('ROLE' as const) : null;
      return { ...approval, may_decide: false, obstacle };
    });
  const { delegation, workspaceId, userId } = caller;
  const requests = pending.map(({ requested_by: requestedBy, session_id: sessionId }) => ({ requestedBy, sessionId }));
  const asPerson = gateway.as(delegation, { checkResolver });
  const { obstacles } = await answerOf('gateway', () => asPerson.checkResolver({ body: { workspaceId, requests } }));
  return approvals.map((approval) => {
    const nth = pending.indexOf(approval);
    if (nth < 0) return { ...approval, may_decide: false, obstacle: null };
    const existing = obstacles[nth];
    const obstacle = obstacleOf(approval, {
      userId,
      obstacle: existing === undefined ? 'UNKNOWN_REQUESTER' : existing,
    });
    return { ...approval, may_decide: obstacle === null, obstacle };
  });
}
