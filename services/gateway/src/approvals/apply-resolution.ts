import type { WorkspaceApproval } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { recordResolution } from '../orchestrator/record-resolution.ts';
import { resolveApproval, type StoredApproval } from '../store/approvals.ts';
import type { Tx } from '../store/database.ts';
import { holdTask } from '../store/tasks.ts';
import { endUnapproved } from './end-unapproved.ts';
import { releaseRun } from './release-run.ts';
import { runOf } from './run-of.ts';

type Resolution = {
  status: 'approved' | 'rejected' | 'expired';
  /** The person of the workspace who decided. */
  resolvedBy: string | null;
  /** Until when the kernel holds the approved call; null: it does not. */
  timelockUntil: Date | null;
  actor: string;
  /** The reason of a rejection. */
  reason: string | null;
  requestId: string | null;
};

const codeOf = { rejected: 'APPROVAL_REJECTED', expired: 'APPROVAL_EXPIRED' } as const;

/**
 * Records the end of an approval and its effect on its run, if it has one. The run continues, at once or when the time
 * lock has passed, or it ends. Null when the approval had moved on before, or was approved and its run is on its way.
 */
export async function applyResolution(
  tx: Tx,
  context: Context,
  approval: StoredApproval,
  { status, resolvedBy, timelockUntil, actor, reason, requestId }: Resolution,
): Promise<WorkspaceApproval | null> {
  const run = runOf(approval);
  if (run !== null) await holdTask(tx, run.workspaceId, run.taskId);
  const now = context.now();
  const held = run !== null && timelockUntil !== null && timelockUntil > now;
  const isWithdrawn = approval.status === 'approved';
  const from = { id: approval.id, status: approval.status, held: isWithdrawn && run !== null };
  const resolved = await resolveApproval(tx, from, { status, resolvedBy, timelockUntil, held, now });
  if (resolved === null) return null;
  if (status === 'approved') {
    await recordResolution(tx, context, resolved, { actor, requestId });
    if (!held) await releaseRun(tx, context, approval, { actor, requestId });
  } else await endUnapproved(tx, context, { ...resolved, run }, { actor, code: codeOf[status], reason, requestId });
  return resolved;
}
