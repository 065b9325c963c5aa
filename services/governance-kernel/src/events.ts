import { Instant, type PrincipalId } from '@countersign/contracts';
import { kernelApprovalResolved, kernelFenceSet } from '@countersign/contracts/governance-kernel';
import type { NewEvent, OutgoingEvent } from '@countersign/messaging';
import type { ApprovalRow } from './approvals/approval-row.ts';
import type { FenceRow } from './fences/fence-row.ts';
import { fenceTerms } from './fences/fence-view.ts';

/*
 * What the kernel says to the world. It commits with what it tells: the ledger writes it in the batch of its receipt. The kernel
 * handles no event of anybody.
 */

/** An approval is pending no more. */
export function approvalResolvedEvent(
  { newEvent }: { newEvent: NewEvent },
  { approval, by }: { approval: ApprovalRow; by: PrincipalId | null },
): OutgoingEvent {
  const data = {
    approval_id: approval.id,
    tenant_id: approval.tenant,
    session_id: approval.session,
    state: approval.state,
    resolved_by: by,
    rejection_reason: approval.rejectionReason,
    resolved_at: Instant.parse(new Date(approval.updatedAtMs).toISOString()),
  };
  return newEvent(kernelApprovalResolved, data, { subject: approval.id, tenantid: approval.tenant });
}

/** A scope is fenced, or open again. */
export function fenceSetEvent({ newEvent }: { newEvent: NewEvent }, fence: FenceRow): OutgoingEvent {
  return newEvent(kernelFenceSet, fenceTerms(fence), { subject: fence.scope });
}
