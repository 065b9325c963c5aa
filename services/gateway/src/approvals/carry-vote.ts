import { AppError } from '@countersign/contracts';
import { transitionApproval, type Approval } from '@countersign/contracts/governance-kernel';
import { KernelError } from '../governance/kernel-error.ts';
import type { Kernel } from '../governance/kernel.ts';
import type { StoredApproval } from '../store/approvals.ts';

export type Vote = { status: 'approved' | 'rejected'; resolver: string };

/** `awaits_others`: the kernel counts this vote and wants more of them. */
export type Carried = 'resolved' | 'awaits_others';

const actionOf = { approved: 'approve', rejected: 'deny' } as const;
/** `consumed`: approved, and the run has used it by now. */
const statesOf = { approved: ['approved', 'consumed'], rejected: ['denied'] } as const;

/** Casts a person's vote in the kernel, unless it counts there already. */
export async function carryVote(kernel: Kernel | null, approval: StoredApproval, vote: Vote): Promise<Carried> {
  if (kernel === null) throw unavailable();
  try {
    return await voteOnce(kernel, approval, vote);
  } catch (cause) {
    if (cause instanceof KernelError) throw unavailable(cause);
    throw cause;
  }
}

async function voteOnce(kernel: Kernel, approval: StoredApproval, vote: Vote): Promise<Carried> {
  const asker = { workspaceId: approval.workspaceId, runId: approval.runId };
  const found = await kernel.findApproval(asker, approval.kernelApprovalId);
  if (found === null) throw alreadyResolved('expired');
  const standing = standingOf(found, vote);
  if (standing !== null) return standing;
  const answer = await kernel.decideApproval({
    workspaceId: approval.workspaceId,
    approver: vote.resolver,
    approvalId: approval.kernelApprovalId,
    action: actionOf[vote.status],
    ceremonyHash: found.ceremony_hash,
  });
  if (answer.status === 403)
    throw new AppError('PERMISSION_DENIED', 'The policy names other approvers for this action');
  if (answer.status === 409 || answer.status === 412) throw alreadyResolved('resolved');
  const moved = transitionApproval.reply.safeParse(answer.body);
  const after = answer.status === 200 && moved.success ? standingOf(moved.data, vote) : null;
  if (after === null) throw unavailable();
  return after;
}

/** What the kernel's approval says about the vote; null: it is pending and the vote does not count yet. */
function standingOf({ state, approved_by }: Approval, { status, resolver }: Vote): Carried | null {
  if (statesOf[status].some((wanted) => wanted === state)) return 'resolved';
  if (state !== 'pending') throw alreadyResolved(state);
  return status === 'approved' && approved_by.some((approver) => approver === resolver) ? 'awaits_others' : null;
}

export function alreadyResolved(status: string): AppError {
  return new AppError('ILLEGAL_TRANSITION', `The approval is ${status}`, {
    param: 'status',
    details: { status, allowed: [] },
  });
}

function unavailable(cause?: unknown): AppError {
  return new AppError('GOVERNANCE_UNAVAILABLE', 'The kernel does not answer, so nothing was resolved', { cause });
}
