import type { Context } from '../context.ts';
import type { StoredApproval } from '../store/approvals.ts';
import { applyResolution } from './apply-resolution.ts';

/** Time is up: the approval expires, and a run that waits for it ends as denied. */
export async function expireApproval(context: Context, approval: StoredApproval): Promise<void> {
  const end = { status: 'expired', resolvedBy: null, timelockUntil: null, reason: null, requestId: null } as const;
  await context.transaction((tx) => applyResolution(tx, context, approval, { ...end, actor: approval.requestedBy }));
}
