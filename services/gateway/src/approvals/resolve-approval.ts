import { isAppError, mayNotDecide } from '@countersign/contracts';
import type { WorkspaceApproval } from '@countersign/contracts/gateway';
import { recordDenial } from '../audit/record-denial.ts';
import type { Context } from '../context.ts';
import { notFound } from '../not-found.ts';
import { deliverMembers, forgetDelivered } from '../members/deliver-members.ts';
import { findApproval, type StoredApproval } from '../store/approvals.ts';
import { recordAudit } from '../store/audit.ts';
import type { Membership } from '../store/workspaces.ts';
import { alreadyResolved, carryVote } from './carry-vote.ts';
import { applyResolution } from './apply-resolution.ts';
import { findObstacle } from './find-obstacles.ts';

type Deps = Pick<
  Context,
  'log' | 'database' | 'newEvent' | 'kernel' | 'deliveredMembers' | 'now' | 'databaseNow' | 'transaction'
>;

type Resolution = {
  approvalId: string;
  status: 'approved' | 'rejected';
  resolver: string;
  /** The reason that the resolver entered. */
  reason?: string | undefined;
  membership: Membership;
  requestId: string;
};

/**
 * Resolves an approval once: first in the kernel, whose decision is authoritative, then here. If the process dies
 * after the first part, the approval of the workspace stays pending. A repeated request finds the decision in the
 * kernel and records it. The approval also stays pending while the kernel requires more votes.
 */
export async function resolveApproval(context: Deps, resolution: Resolution): Promise<WorkspaceApproval> {
  const { workspaceId } = resolution.membership;
  const approval = await findApproval(context.database.reader, workspaceId, resolution.approvalId);
  if (approval === null) throw notFound();
  await assertEntitled(context, approval, resolution);
  if (approval.status !== 'pending') throw alreadyResolved(approval.status);
  await deliverMembers(context, resolution.membership);
  const { role, membersVersion } = resolution.membership;
  const vote = { ...resolution, role, membersVersion };
  const carried = await carryVote(context.kernel, approval, vote).catch((error: unknown) => {
    if (isAppError(error) && error.code === 'GOVERNANCE_UNAVAILABLE') forgetDelivered(context, resolution.membership);
    throw error;
  });
  if (carried.kind === 'awaits_others') return recordVote(context, approval, resolution);
  return recordHere(context, approval, { ...resolution, timelockUntil: carried.timelockUntil });
}

async function assertEntitled(
  context: Pick<Context, 'database' | 'now' | 'transaction'>,
  approval: StoredApproval,
  resolution: Resolution,
): Promise<void> {
  const { membership, resolver, requestId } = resolution;
  const obstacle = await findObstacle(context.database.reader, approval, { ...membership, resolver });
  if (obstacle === null) return;
  const { workspaceId } = membership;
  await recordDenial(context, {
    workspaceId,
    action: 'approval.resolve',
    actor: resolver,
    subject: approval.id,
    requestId,
  });
  throw mayNotDecide(obstacle);
}

/**
 * Records one of several votes. The kernel waits for the others, so the action stays parked and the approval pending.
 */
async function recordVote(
  context: Pick<Context, 'now' | 'transaction'>,
  approval: StoredApproval,
  { resolver, requestId }: Resolution,
): Promise<WorkspaceApproval> {
  const { workspaceId, runId, tool, kernelApprovalId, apiKey } = approval;
  const vote = { action: 'approval.vote', actor: resolver, verdict: 'allow', reason: 'APPROVAL_REQUIRED' } as const;
  const details = { runId, tool, kernelApprovalId, apiKeyId: apiKey?.id ?? null };
  const entry = { ...vote, workspaceId, subject: approval.id, details, requestId };
  await context.transaction((tx) => recordAudit(tx, entry, context.now()));
  const { stepId: _step, held: _held, ...pending } = approval;
  return pending;
}

async function recordHere(
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow' | 'transaction'>,
  approval: StoredApproval,
  { status, resolver, reason = '', timelockUntil, requestId }: Resolution & { timelockUntil: Date | null },
): Promise<WorkspaceApproval> {
  const by = { resolvedBy: resolver, actor: resolver, requestId };
  const resolution = { status, ...by, timelockUntil, reason: reason.trim() || null };
  const resolved = await context.transaction((tx) => applyResolution(tx, context, approval, resolution));
  if (resolved === null) throw alreadyResolved('resolved');
  return resolved;
}
