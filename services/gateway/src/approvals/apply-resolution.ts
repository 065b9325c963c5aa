import type { WorkspaceApproval } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { recordResolution } from '../run-moves/record-resolution.ts';
import { resolveApproval, type StoredApproval } from '../store/approvals.ts';
import type { Tx } from '../store/database.ts';
import { holdTask } from '../store/tasks.ts';
import { endUnapproved } from './end-unapproved.ts';
import { releaseRun } from './release-run.ts';
import { runOf } from './run-of.ts';

type Resolution = {
  status: 'approved' | 'rejected' | 'expired';
  /** The person of the workspace who decided. `null` when no such person did, as for an expired approval. */
  resolvedBy: string | null;
  /** The time until which the kernel delays the approved call. `null` when there is no time lock. */
  timelockUntil: Date | null;
  actor: string;
  /** The reason of a rejection, a withdrawal or an early expiry. `null` when there is none. */
  reason: string | null;
  requestId: string | null;
};

const codeOf = { rejected: 'APPROVAL_REJECTED', expired: 'APPROVAL_EXPIRED' } as const;

/**
 * Records the end of an approval and its effect on its run, if any. The run continues at once, continues after the
 * time lock, or ends. `null` when the approval had changed before, or was approved and its run already continues.
 */
export async function applyResolution(
  tx: Tx,
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow'>,
  approval: StoredApproval,
  { status, resolvedBy, timelockUntil, actor, reason, requestId }: Resolution,
): Promise<WorkspaceApproval | null> {
  const run = runOf(approval);
  if (run !== null) await holdTask(tx, run.workspaceId, run.taskId);
  const now = context.now();
  const isTimeLocked = run !== null && timelockUntil !== null && timelockUntil > now;
  const isWithdrawn = approval.status === 'approved';
  const from = { id: approval.id, status: approval.status, held: isWithdrawn && run !== null };
  const resolved = await resolveApproval(tx, from, { status, resolvedBy, timelockUntil, held: isTimeLocked, now });
  if (resolved === null) return null;
  if (status === 'approved') {
    await recordResolution(tx, context, resolved, { actor, requestId });
    if (!isTimeLocked) await releaseRun(tx, context, approval, { actor, requestId });
  } else await endUnapproved(tx, context, { ...resolved, run }, { actor, code: codeOf[status], reason, requestId });
  return resolved;
}
