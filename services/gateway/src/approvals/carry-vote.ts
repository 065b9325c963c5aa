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

/** `awaits_others`: the kernel counted this vote and requires more votes. */
type Carried = { kind: 'resolved'; timelockUntil: Date | null } | { kind: 'awaits_others' };

const actionOf = { approved: 'approve', rejected: 'deny' } as const;
/** `consumed`: the approval was given, and its requester has already used it. */
const statesOf = { approved: ['approved', 'consumed'], rejected: ['denied'] } as const;

/** Casts the vote of a person in the kernel, unless the vote already counts there. */
export async function carryVote(kernel: Kernel | null, approval: StoredApproval, vote: Vote): Promise<Carried> {
  if (kernel === null) throw unavailable();
  try {
    return await voteOnce(kernel, approval, vote);
  } catch (cause) {
    if (cause instanceof KernelError) throw unavailable(cause);
    throw cause;
  }
}

/** The most attempts to cast one vote. Each vote of another person changes the hash that this vote must name. */
const castsMax = 4;

async function voteOnce(kernel: Kernel, approval: StoredApproval, vote: Vote, castsLeft = castsMax): Promise<Carried> {
  const before = await findInKernel(kernel, approval);
  const current = standingOf(before, vote);
  if (current !== null) return current;
  const answer = await cast(kernel, approval, vote, before.ceremony_hash);
  const status = answer?.status ?? null;
  if (status === 403) throw refusalOf(answer?.body);
  if (status === 412 && castsLeft > 1) return voteOnce(kernel, approval, vote, castsLeft - 1);
  // A refused or unanswered vote may still count. Only the kernel knows.
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

/** `null` when no valid answer came. The vote may have arrived. */
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

/**
 * The effect of a vote, by the state of the kernel's approval. `null` when the approval is pending and the vote does
 * not count yet. Throws ILLEGAL_TRANSITION when the approval ended otherwise.
 */
function standingOf({ state, approved_by, timelock_until }: Approval, { status, resolver }: Vote): Carried | null {
  if (statesOf[status].some((wanted) => wanted === state))
    return { kind: 'resolved', timelockUntil: timelock_until === null ? null : new Date(timelock_until) };
  if (state !== 'pending') throw alreadyResolved(state);
  const hasVoted = status === 'approved' && approved_by.some((approver) => approver === resolver);
  return hasVoted ? { kind: 'awaits_others' } : null;
}

/**
 * The error for a refused vote. Where passkeys are enrolled, a role asserted by the gateway cannot vote. Only a device
 * of the person can sign a vote, on the page of the kernel.
 */
function refusalOf(body: unknown): AppError {
  if (ErrorEnvelope.safeParse(body).data?.error.code === 'PASSKEY_REQUIRED')
    return new AppError('PASSKEY_REQUIRED', 'This workspace requires passkeys. Decide on the page of the approval');
  return mayNotDecide('NOT_NAMED');
}

export function alreadyResolved(status: string): AppError {
  return new AppError('ILLEGAL_TRANSITION', `The approval is ${status}`, {
    param: 'status',
    details: { status, allowed: [] },
  });
}

function unavailable(cause?: unknown): AppError {
  return new AppError(
    'GOVERNANCE_UNAVAILABLE',
    'The kernel did not confirm the vote, so the approval is unchanged here. Try again',
    {
      cause,
    },
  );
}
