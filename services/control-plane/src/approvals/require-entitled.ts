import { agentOf, AppError, isAppError, keyOfPrincipal } from '@countersign/contracts';
import { getWorkspaceApproval } from '@countersign/contracts/gateway';
import { listApprovals, type ApprovalDecision } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';

/**
 * Whose run or key asks does not approve where somebody else could, whichever door they come by. The gateway knows whose it is; the
 * kernel knows the agent alone. To refuse a call is anybody's. Throws NOT_FOUND, PERMISSION_DENIED, GATEWAY_UNAVAILABLE.
 */
export async function requireEntitled(
  { kernel, gateway }: Context,
  { id, decision }: { id: string; decision: ApprovalDecision },
  { assertion, delegation, workspaceId }: WorkspaceCaller,
): Promise<void> {
  if (decision === 'deny' || decision === 'revoke') return;
  const asKernel = kernel.as(assertion, { listApprovals });
  const { data } = await answerOf('kernel', () => asKernel.listApprovals({ query: { approval_id: id } }));
  const [approval] = data;
  if (approval === undefined) throw new AppError('NOT_FOUND', 'There is no such object');
  const { requested_by: asker } = approval;
  if (asker !== agentOf(workspaceId) && keyOfPrincipal(asker) === null) return;
  const asPerson = gateway.as(delegation, { getWorkspaceApproval });
  const here = { params: { id }, query: { workspaceId } };
  const { mayResolve } = await answerOf('gateway', () => asPerson.getWorkspaceApproval(here)).catch(untoldYet);
  if (!mayResolve)
    throw new AppError('PERMISSION_DENIED', 'Somebody other than the person whose run or key asks has to decide');
}

/** The gateway hears of a question moments after it was asked. */
function untoldYet(cause: unknown): never {
  if (!isAppError(cause) || cause.code !== 'NOT_FOUND') throw cause;
  throw new AppError('GATEWAY_UNAVAILABLE', 'The gateway has not heard of this question yet; try again', { cause });
}
