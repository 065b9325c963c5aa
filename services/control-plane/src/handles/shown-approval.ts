import type { ApprovalId } from '@countersign/contracts';
import { PublicApproval } from '@countersign/contracts/control-plane';
import { listApprovals } from '@countersign/contracts/governance-kernel';
import { toTheMinute } from '@countersign/verifier';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { notFound } from '../not-found.ts';
import { answerOf } from '../siblings/answer-of.ts';

/**
 * The public part of the current state of an approval of the caller's workspace. Throws NOT_FOUND and
 * GOVERNANCE_UNAVAILABLE.
 */
export async function getShownApproval(
  { kernel, now }: Pick<Context, 'kernel' | 'now'>,
  approval_id: ApprovalId,
  { assertion }: WorkspaceCaller,
): Promise<PublicApproval> {
  const asPerson = kernel.as(assertion, { listApprovals });
  const { data } = await answerOf('kernel', () => asPerson.listApprovals({ query: { approval_id } }));
  const found = data.find((approval) => approval.approval_id === approval_id);
  if (found === undefined) throw notFound();
  const { state, quorum, approved_by, break_glass, ceremony_hash } = found;
  return PublicApproval.parse({
    ...{ approval_id, state, quorum, ceremony_hash },
    approved: approved_by.length,
    method: break_glass === null ? 'votes' : 'break_glass',
    requested_at: toTheMinute(found.created_at),
    updated_at: toTheMinute(found.updated_at),
    published_at: toTheMinute(now().toISOString()),
  });
}
