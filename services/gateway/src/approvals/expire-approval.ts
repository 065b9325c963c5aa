import type { Context } from '../context.ts';
import { resolveApproval, type ExpiredApproval } from '../store/approvals.ts';
import { holdTask } from '../store/tasks.ts';
import { endUnapproved } from './end-unapproved.ts';

/** Time is up: the approval expires and its run ends as denied. */
export async function expireApproval(context: Context, expired: ExpiredApproval): Promise<void> {
  await context.transaction(async (tx) => {
    await holdTask(tx, expired.workspaceId, expired.taskId);
    const now = context.now();
    const approval = await resolveApproval(tx, expired.approvalId, { status: 'expired', resolvedBy: null, now });
    if (approval === null) return;
    await endUnapproved(tx, context, approval, {
      actor: approval.requestedBy,
      code: 'APPROVAL_EXPIRED',
      reason: null,
      requestId: null,
    });
  });
}
