import { z } from 'zod';
import { defineEvent } from '../event.ts';
import { ApprovalId, Instant, PrincipalId, SessionId, TenantId } from '../scalars.ts';
import { ApprovalState } from './approvals.ts';
import { Fence } from './fences.ts';

/** An approval left `pending`: whoever parked a call for it can go on. */
export const kernelApprovalResolved = defineEvent({
  type: 'kernel.approval.resolved.v1',
  data: z.strictObject({
    approval_id: ApprovalId,
    tenant_id: TenantId,
    session_id: SessionId,
    state: ApprovalState,
    /** Null: its time ran out. */
    resolved_by: PrincipalId.nullable(),
    rejection_reason: z.string().nullable(),
    resolved_at: Instant,
  }),
});

/** A fence was set or lifted: every kernel keeps to it. */
export const kernelFenceSet = defineEvent({
  type: 'kernel.fence.set.v1',
  data: Fence.omit({ calls_taken: true }),
});
