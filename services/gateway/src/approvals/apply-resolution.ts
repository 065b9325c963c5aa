import type { WorkspaceApproval } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { publishRunEnqueued } from '../events.ts';
import { changeRun } from '../orchestrator/change-run.ts';
import { recordResolution } from '../orchestrator/record-resolution.ts';
import { resolveApproval, type StoredApproval } from '../store/approvals.ts';
import type { Tx } from '../store/database.ts';
import { grantStep } from '../store/steps.ts';
import { holdTask } from '../store/tasks.ts';
import { endUnapproved } from './end-unapproved.ts';

type Resolution = {
  status: 'approved' | 'rejected' | 'expired';
  /** The person of the workspace who decided. */
  resolvedBy: string | null;
  actor: string;
  /** What was said to a rejection. */
  reason: string | null;
  requestId: string | null;
};

const codeOf = { rejected: 'APPROVAL_REJECTED', expired: 'APPROVAL_EXPIRED' } as const;

/** Writes down how an approval ended and what that means for its run. Null when it had ended before. */
export async function applyResolution(
  tx: Tx,
  context: Context,
  approval: StoredApproval,
  { status, resolvedBy, actor, reason, requestId }: Resolution,
): Promise<WorkspaceApproval | null> {
  await holdTask(tx, approval.workspaceId, approval.taskId);
  const resolved = await resolveApproval(tx, approval.id, { status, resolvedBy, now: context.now() });
  if (resolved === null) return null;
  if (status !== 'approved') {
    await endUnapproved(tx, context, resolved, { actor, code: codeOf[status], reason, requestId });
    return resolved;
  }
  await recordResolution(tx, context, resolved, { actor, requestId });
  await grantStep(tx, approval.stepId, approval.kernelApprovalId);
  const change = { from: ['awaiting_approval'], to: 'queued', outcome: null, actor, requestId } as const;
  if (await changeRun(tx, context, resolved, change)) await publishRunEnqueued(tx, context, resolved);
  return resolved;
}
