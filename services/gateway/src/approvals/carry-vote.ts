import { AppError, ErrorEnvelope, mayNotDecide, type RawAnswer } from '@countersign/contracts';
import type { Role } from '@countersign/contracts/gateway';
import type { Approval } from '@countersign/contracts/governance-kernel';
import { KernelError } from '../governance/kernel-error.ts';
import type { Kernel } from '../governance/kernel.ts';
import type { StoredApproval } from '../store/approvals.ts';

type Vote = {
  status: 'approved' | 'rejected';
  resolver: string;
  role: Role;
  membersVersion: number;
  reason?: string | undefined;
};

/** `awaits_others`: the kernel counts this vote and wants more of them. */
type Carried = { kind: 'resolved'; timelockUntil: Date | null } | { kind: 'awaits_others' };

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

/** Each other vote changes the state that ours has to name. No more of them than this come in one moment. */
const castsMax = 4;

async function voteOnce(kernel: Kernel, approval: StoredApproval, vote: Vote, castsLeft = castsMax): Promise<Carried> {
  const before = await findInKernel(kernel, approval);
  const standing = standingOf(before, vote);
  if (standing !== null) return standing;
  const answer = await cast(kernel, approval, vote, before.ceremony_hash);
  const status = answer?.status ?? null;
  if (status === 403) throw refusalOf(answer?.body);
  if (status === 412 && castsLeft > 1) return voteOnce(kernel, approval, vote, castsLeft - 1);
  // A vote that was refused or not answered may count all the same; only the kernel can tell.
  const moved = answer?.kind === 'replied' ? answer.body : null;
  const after = standingOf(moved ?? (await findInKernel(kernel, approval)), vote);
  if (after !== null) return after;
  throw status === 409 ? alreadyResolved('pending') : unavailable();
}

async function findInKernel(
  kernel: Kernel,
  { workspaceId, sessionId, kernelApprovalId }: StoredApproval,
): Promise<Approval> {
  const found = await kernel.findApproval({ workspaceId, sessionId }, kernelApprovalId);
  if (found === null) throw alreadyResolved('expired');
  return found;
}

/** Null: no answer came, and the vote may have arrived. */
async function cast(
  kernel: Kernel,
  { workspaceId, kernelApprovalId: approvalId }: StoredApproval,
  { status, resolver: approver, role, membersVersion, reason }: Vote,
  ceremonyHash: string,
): Promise<RawAnswer<Approval> | null> {
  try {
    const vote = {
      workspaceId,
      approver,
      role,
      membersVersion,
      approvalId,
      action: actionOf[status],
      ceremonyHash,
      reason,
    };
    return await kernel.castVote(vote);
  } catch (cause) {
    if (cause instanceof KernelError) return null;
    throw cause;
  }
}

/** The state of the kernel's approval of a vote; `null` when it is pending and the vote does not count yet. */
function standingOf({ state, approved_by, timelock_until }: Approval, { status, resolver }: Vote): Carried | null {
  if (statesOf[status].some((wanted) => wanted === state))
    return { kind: 'resolved', timelockUntil: timelock_until === null ? null : new Date(timelock_until) };
  if (state !== 'pending') throw alreadyResolved(state);
  const hasVoted = status === 'approved' && approved_by.some((approver) => approver === resolver);
  return hasVoted ? { kind: 'awaits_others' } : null;
}

/** Where passkeys are enrolled, the gateway's word for a person is no vote: only their device signs one, on the kernel's page. */
function refusalOf(body: unknown): AppError {
  if (ErrorEnvelope.safeParse(body).data?.error.code === 'PASSKEY_REQUIRED')
    return new AppError('PASSKEY_REQUIRED', 'This workspace has passkeys: answer on the page of the approval');
  return mayNotDecide('NOT_NAMED');
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
