import { keyOfPrincipal, UserId, type EventOf } from '@countersign/contracts';
import type { kernelApprovalResolved } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { findKeyOf } from '../store/api-keys.ts';
import { findApprovalOfKernel, type StoredApproval } from '../store/approvals.ts';
import type { Reader, Tx } from '../store/database.ts';
import { isRunning } from '../store/runs.ts';
import { applyResolution } from './apply-resolution.ts';
import { endWait } from './release-held.ts';

type Deps = Pick<Context, 'newEvent' | 'now' | 'databaseNow'>;

type Resolved = EventOf<typeof kernelApprovalResolved>['data'];

/**
 * Applies a decision that was made in the kernel to the approval of the workspace, so its run continues or ends. The
 * kernel judges the call again under the grant, so a wrong message cannot execute a call. Approvals of agents that the
 * gateway does not know are ignored. `early`: the run is not parked yet, or the request of the key is not stored yet,
 * so the message must be delivered again.
 */
export async function followKernel(
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow' | 'transaction'>,
  resolved: Resolved,
): Promise<'followed' | 'early'> {
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

type Statement = { resolved: Resolved; status: 'approved' | 'rejected' | 'expired' };

async function follow(tx: Tx, context: Deps, approval: StoredApproval, { resolved, status }: Statement): Promise<void> {
  const { resolved_by: by, timelock_until: until, rejection_reason: reason } = resolved;
  await applyResolution(tx, context, approval, {
    ...{ status, reason, requestId: null },
    resolvedBy: UserId.safeParse(by).data ?? null,
    timelockUntil: status === 'approved' && until !== null ? new Date(until) : null,
    actor: by ?? approval.requestedBy,
  });
}

/** An approved call can be withdrawn while it waits, or released early. */
async function followApproved(tx: Tx, context: Deps, approval: StoredApproval, statement: Statement): Promise<void> {
  if (statement.status !== 'approved') return follow(tx, context, approval, statement);
  if (statement.resolved.timelock_until === null) await endWait(tx, context, approval);
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
