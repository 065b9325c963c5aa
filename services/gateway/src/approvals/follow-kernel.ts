import { UserId, type EventOf } from '@countersign/contracts';
import type { kernelApprovalResolved } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { findApprovalOfKernel } from '../store/approvals.ts';
import { isRunning } from '../store/runs.ts';
import { applyResolution } from './apply-resolution.ts';

type Resolved = EventOf<typeof kernelApprovalResolved>['data'];

/**
 * An approval was decided in the kernel, on its page or by a signature: its run goes on or ends here too. The kernel judges the
 * call again under the grant, so a wrong message lets nothing run. Most approvals are of agents that the gateway knows nothing of.
 * `early`: the run that asked is still being parked, so the message must come again.
 */
export async function followKernel(context: Context, resolved: Resolved): Promise<'followed' | 'early'> {
  const { tenant_id: workspaceId, approval_id: kernelApprovalId, session_id: runId } = resolved;
  const status = statusOf(resolved.state);
  if (status === null) return 'followed';
  return await context.transaction(async (tx) => {
    const approval = await findApprovalOfKernel(tx, { workspaceId, kernelApprovalId });
    if (approval === null) return (await isRunning(tx, { workspaceId, runId })) ? 'early' : 'followed';
    if (approval.status !== 'pending') return 'followed';
    await applyResolution(tx, context, approval, {
      status,
      resolvedBy: UserId.safeParse(resolved.resolved_by).data ?? null,
      actor: resolved.resolved_by ?? approval.requestedBy,
      reason: resolved.rejection_reason,
      requestId: null,
    });
    return 'followed';
  });
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
