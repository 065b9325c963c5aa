import { AppError } from '@countersign/contracts';
import type { WorkspaceApproval } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { publishRunEnqueued } from '../events.ts';
import { notFound } from '../guards.ts';
import { changeRun } from '../orchestrator/change-run.ts';
import { findApproval, resolveApproval as storeResolution, type StoredApproval } from '../store/approvals.ts';
import { recordAudit } from '../store/audit.ts';
import { grantStep } from '../store/steps.ts';
import { lockTask } from '../store/tasks.ts';
import { countOtherApprovers, type Membership } from '../store/workspaces.ts';
import { alreadyResolved, carryVote } from './carry-vote.ts';
import { endUnapproved } from './end-unapproved.ts';
import { mayResolve } from './may-resolve.ts';
import { recordResolution } from '../orchestrator/record-resolution.ts';

type Resolution = {
  approvalId: string;
  status: 'approved' | 'rejected';
  resolver: string;
  membership: Membership;
  requestId: string;
};

/**
 * Resolves an approval once: first in the kernel, whose word counts, then here. If the process dies in between, the workspace's
 * approval stays pending; whoever resolves it again finds the kernel's in the wanted state and goes on. It also stays pending
 * while the kernel wants more votes.
 */
export async function resolveApproval(context: Context, resolution: Resolution): Promise<WorkspaceApproval> {
  const { workspaceId } = resolution.membership;
  const approval = await findApproval(context.database.reader, workspaceId, resolution.approvalId);
  if (approval === null) throw notFound();
  await assertEntitled(context, approval, resolution);
  if (approval.status !== 'pending') throw alreadyResolved(approval.status);
  const carried = await carryVote(context.kernel, approval, resolution);
  if (carried === 'awaits_others') return recordVote(context, approval, resolution);
  return recordHere(context, approval, resolution);
}

async function assertEntitled(context: Context, approval: StoredApproval, resolution: Resolution): Promise<void> {
  const { membership, resolver, requestId } = resolution;
  const others = await countOtherApprovers(context.database.reader, membership.workspaceId, resolver);
  const { requestedBy, startedBy } = approval;
  if (mayResolve({ role: membership.role, resolver, requestedBy, startedBy, anotherIsEntitled: others > 0 })) return;
  const denial = { action: 'approval.resolve', actor: resolver, verdict: 'deny', reason: 'PERMISSION_DENIED' } as const;
  const entry = { ...denial, workspaceId: membership.workspaceId, subject: approval.id, requestId };
  await context.transaction((tx) => recordAudit(tx, entry, context.now()));
  throw new AppError('PERMISSION_DENIED', 'Somebody other than the person who started the run has to decide');
}

/** One vote of several: the kernel waits for the others, so the action stays parked and the approval pending. */
async function recordVote(
  context: Context,
  approval: StoredApproval,
  { resolver, requestId }: Resolution,
): Promise<WorkspaceApproval> {
  const { workspaceId, runId, tool, kernelApprovalId } = approval;
  const vote = { action: 'approval.vote', actor: resolver, verdict: 'allow', reason: 'APPROVAL_REQUIRED' } as const;
  const entry = { ...vote, workspaceId, subject: approval.id, details: { runId, tool, kernelApprovalId }, requestId };
  await context.transaction((tx) => recordAudit(tx, entry, context.now()));
  const { stepId: _ours, ...pending } = approval;
  return pending;
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
