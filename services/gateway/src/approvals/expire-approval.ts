import type { Context } from '../context.ts';
import type { StoredApproval } from '../store/approvals.ts';
import { applyResolution } from './apply-resolution.ts';

/** Expires an approval whose time is over. A run that waits for it ends as denied. */
export async function expireApproval(
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow' | 'transaction'>,
  approval: StoredApproval,
): Promise<void> {
  const end = { status: 'expired', resolvedBy: null, timelockUntil: null, reason: null, requestId: null } as const;
  await context.transaction((tx) => applyResolution(tx, context, approval, { ...end, actor: approval.requestedBy }));
}
