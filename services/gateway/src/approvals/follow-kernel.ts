import { keyOfPrincipal, UserId, type EventOf } from '@countersign/contracts';
import type { kernelApprovalResolved } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { findKeyOf } from '../store/api-keys.ts';
import { findApprovalOfKernel, type StoredApproval } from '../store/approvals.ts';
import type { Reader, Tx } from '../store/database.ts';
import { isRunning } from '../store/runs.ts';
import { applyResolution } from './apply-resolution.ts';
import { endWait } from './release-held.ts';

type Resolved = EventOf<typeof kernelApprovalResolved>['data'];

/**
 * An approval was decided in the kernel, on its page or by a signature: the workspace's follows, and its run goes on or ends. The kernel judges
 * the call again under the grant, so a wrong message lets nothing run. Many approvals are of agents that the gateway knows nothing of.
 * `early`: the run that asked is still being parked, or the key's question still being written down, so the message must come again.
 */
export async function followKernel(context: Context, resolved: Resolved): Promise<'followed' | 'early'> {
  const { tenant_id: workspaceId, approval_id: kernelApprovalId } = resolved;
  const status = statusOf(resolved.state);
  if (status === null) return 'followed';
  return await context.transaction(async (tx) => {
    const approval = await findApprovalOfKernel(tx, { workspaceId, kernelApprovalId });
    if (approval === null) return (await isOnItsWay(tx, resolved)) ? 'early' : 'followed';
    if (approval.status === 'pending') await follow(tx, context, approval, { resolved, status });
    if (approval.status === 'approved') await followApproved(tx, context, approval, { resolved, status });
    return 'followed';
  });
}

async function isOnItsWay(reader: Reader, resolved: Resolved): Promise<boolean> {
  const { tenant_id: workspaceId, session_id: runId, requested_by: asker } = resolved;
  const keyId = asker === null ? null : keyOfPrincipal(asker);
  if (keyId === null) return isRunning(reader, { workspaceId, runId });
  return (await findKeyOf(reader, workspaceId, keyId)) !== null;
}

type Said = { resolved: Resolved; status: 'approved' | 'rejected' | 'expired' };

async function follow(tx: Tx, context: Context, approval: StoredApproval, { resolved, status }: Said): Promise<void> {
  const { resolved_by: by, timelock_until: until, rejection_reason: reason } = resolved;
  await applyResolution(tx, context, approval, {
    ...{ status, reason, requestId: null },
    resolvedBy: UserId.safeParse(by).data ?? null,
    timelockUntil: status === 'approved' && until !== null ? new Date(until) : null,
    actor: by ?? approval.requestedBy,
  });
}

/** An approved call can be withdrawn while it waits, or released before its time. */
async function followApproved(tx: Tx, context: Context, approval: StoredApproval, said: Said): Promise<void> {
  if (said.status !== 'approved') return follow(tx, context, approval, said);
  if (said.resolved.timelock_until === null) await endWait(tx, context, approval);
}

function statusOf(state: Resolved['state']) {
  switch (state) {
    case 'approved':
      return 'approved';
    case 'denied':
    case 'revoked':
      return 'rejected';
    case 'expired':
      return 'expired';
    case 'pending':
    case 'consumed':
      return null;
    default:
      return state satisfies never;
  }
}
