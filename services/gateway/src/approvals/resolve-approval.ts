import { AppError } from '@countersign/contracts';
import type { WorkspaceApproval } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { publishRunEnqueued } from '../events.ts';
import { KernelError } from '../governance/kernel-error.ts';
import type { Kernel } from '../governance/kernel.ts';
import { notFound } from '../handle.ts';
import { changeRun } from '../orchestrator/conclude-run.ts';
import { findApproval, resolveApproval as storeResolution, type StoredApproval } from '../store/approvals.ts';
import { recordAudit } from '../store/audit.ts';
import { grantStep } from '../store/steps.ts';
import { lockTask } from '../store/tasks.ts';
import { countOtherApprovers, type Membership } from '../store/workspaces.ts';
import { endUnapproved, recordResolution } from './end-unapproved.ts';
import { mayResolve } from './may-resolve.ts';

export type Resolution = {
  approvalId: string;
  status: 'approved' | 'rejected';
  resolver: string;
  membership: Membership;
  requestId: string;
};

/**
 * Resolves an approval once: first in the kernel, whose word counts, then here. A process that dies in between leaves the
 * workspace's approval pending, and resolving it again finds the kernel's in the wanted state and goes on.
 */
export async function resolveApproval(context: Context, resolution: Resolution): Promise<WorkspaceApproval> {
  const { workspaceId } = resolution.membership;
  const approval = await findApproval(context.database.pool, workspaceId, resolution.approvalId);
  if (approval === null) throw notFound();
  await assertEntitled(context, approval, resolution);
  if (approval.status !== 'pending') throw alreadyResolved(approval.status);
  await carryToKernel(context, approval, resolution);
  return recordHere(context, approval, resolution);
}

async function assertEntitled(context: Context, approval: StoredApproval, resolution: Resolution): Promise<void> {
  const { membership, resolver, requestId } = resolution;
  const others = await countOtherApprovers(context.database.pool, membership.workspaceId, resolver);
  const { requestedBy, startedBy } = approval;
  if (mayResolve({ role: membership.role, resolver, requestedBy, startedBy, anotherIsEntitled: others > 0 })) return;
  const denial = { action: 'approval.resolve', actor: resolver, verdict: 'deny', reason: 'PERMISSION_DENIED' } as const;
  const entry = { ...denial, workspaceId: membership.workspaceId, subject: approval.id, requestId };
  await context.transaction((tx) => recordAudit(tx, entry, context.now()));
  throw new AppError('PERMISSION_DENIED', 'Somebody other than the person who started the run has to decide');
}

const actionOf = { approved: 'approve', rejected: 'deny' } as const;
/** `consumed`: approved, and the run has used it by now. */
const statesOf = { approved: ['approved', 'consumed'], rejected: ['denied'] } as const;

async function carryToKernel({ kernel }: Context, approval: StoredApproval, resolution: Resolution): Promise<void> {
  if (kernel === null) throw unavailable();
  try {
    await voteOnce(kernel, approval, resolution);
  } catch (cause) {
    if (cause instanceof KernelError) throw unavailable(cause);
    throw cause;
  }
}

async function voteOnce(kernel: Kernel, approval: StoredApproval, { status, resolver }: Resolution): Promise<void> {
  const asker = { workspaceId: approval.workspaceId, runId: approval.runId };
  const found = await kernel.findApproval(asker, approval.kernelApprovalId);
  if (found === null) throw alreadyResolved('expired');
  if (statesOf[status].some((state) => state === found.state)) return;
  if (found.state !== 'pending') throw alreadyResolved(found.state);
  const answer = await kernel.decideApproval({
    workspaceId: approval.workspaceId,
    approver: resolver,
    approvalId: approval.kernelApprovalId,
    action: actionOf[status],
    ceremonyHash: found.ceremony_hash,
  });
  if (answer.status === 200) return;
  if (answer.status === 403)
    throw new AppError('PERMISSION_DENIED', 'The policy names other approvers for this action');
  if (answer.status === 409 || answer.status === 412) throw alreadyResolved('resolved');
  throw unavailable();
}

async function recordHere(
  context: Context,
  approval: StoredApproval,
  resolution: Resolution,
): Promise<WorkspaceApproval> {
  const { status, resolver, requestId } = resolution;
  return context.transaction(async (tx) => {
    await lockTask(tx, approval.workspaceId, approval.taskId);
    const resolved = await storeResolution(tx, approval.id, { status, resolvedBy: resolver, now: context.now() });
    if (resolved === null) throw alreadyResolved('resolved');
    if (status === 'rejected') {
      await endUnapproved(tx, context, resolved, { actor: resolver, code: 'APPROVAL_REJECTED', requestId });
      return resolved;
    }
    await recordResolution(tx, context, resolved, { actor: resolver, requestId });
    await grantStep(tx, approval.stepId, approval.kernelApprovalId);
    const change = { from: ['awaiting_approval'], to: 'queued', outcome: null, actor: resolver, requestId } as const;
    if (await changeRun(tx, context, resolved, change)) await publishRunEnqueued(tx, context, resolved);
    return resolved;
  });
}

function alreadyResolved(status: string): AppError {
  return new AppError('ILLEGAL_TRANSITION', `The approval is ${status}`, {
    param: 'status',
    details: { status, allowed: [] },
  });
}

function unavailable(cause?: unknown): AppError {
  return new AppError('GOVERNANCE_UNAVAILABLE', 'The kernel does not answer, so nothing was resolved', { cause });
}
