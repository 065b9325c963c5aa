import { z } from 'zod';
import { defineEvent } from '../event.ts';
import {
  ActionName,
  ApprovalId,
  BudgetId,
  Currency,
  EffectLevel,
  HostChainId,
  Instant,
  PrincipalId,
  ReceiptId,
  SessionId,
  TenantId,
  ToolName,
} from '../scalars.ts';
import { ApprovalState } from './approvals.ts';
import { BudgetSubject, BudgetWindow } from './budgets.ts';
import { Fence, ScopedFenceCommand } from './fences.ts';
import { HostDriftCounts } from './host-evidence.ts';
import { IdentityKind } from './identity.ts';

/** An approval is pending and waits for a vote. Its page shows the details of the call to its approvers. */
export const kernelApprovalRequested = defineEvent({
  type: 'kernel.approval.requested.v1',
  data: z.strictObject({
    approval_id: ApprovalId,
    tenant_id: TenantId,
    session_id: SessionId,
    requested_by: PrincipalId,
    action: ActionName,
    tool: ToolName.nullable(),
    effect_level: EffectLevel,
    reason: z.string(),
    quorum: z.int().min(1),
    /** The principals that may decide the approval. If empty, all approvers except the requester may decide. */
    approvers: z.array(PrincipalId),
    expires_at: Instant,
    requested_at: Instant,
  }),
});

/** An approval is no longer `pending`, so a caller with a waiting call can continue. */
export const kernelApprovalResolved = defineEvent({
  type: 'kernel.approval.resolved.v1',
  data: z.strictObject({
    approval_id: ApprovalId,
    tenant_id: TenantId,
    session_id: SessionId,
    /** `null` in events that are older than this member. */
    requested_by: PrincipalId.nullable().default(null),
    state: ApprovalState,
    /** `null` when the approval expired. */
    resolved_by: PrincipalId.nullable(),
    rejection_reason: z.string().nullable(),
    /**
     * The time until which the approved call waits. Older events lack it, and the kernel checks the time lock in any
     * case.
     */
    timelock_until: Instant.nullable().default(null),
    resolved_at: Instant,
  }),
});

/** One person approved alone although a quorum or a time lock was required. */
export const kernelGlassBroken = defineEvent({
  type: 'kernel.approval.glass-broken.v1',
  data: z.strictObject({
    approval_id: ApprovalId,
    tenant_id: TenantId,
    session_id: SessionId,
    action: ActionName,
    tool: ToolName.nullable(),
    effect_level: EffectLevel,
    broken_by: PrincipalId,
    reason: z.string(),
    broken_at: Instant,
    /** The end of the time in which the call may be made once. */
    expires_at: Instant,
  }),
});

/** A fence was set or lifted. All kernels apply it. */
export const kernelFenceSet = defineEvent({
  type: 'kernel.fence.set.v1',
  data: Fence.omit({ calls_taken: true }),
});

/**
 * A command to the kernel, like `put-fence`. It is in force from its transaction on, if its epoch is higher than the
 * current one.
 */
export const fenceSet = defineEvent({ type: 'fence.set.v1', data: ScopedFenceCommand, needsConsumer: true });

/** The usage of a budget reached a threshold of one of its limits. Sent once for each threshold, window and limit. */
export const kernelBudgetThreshold = defineEvent({
  type: 'kernel.budget.threshold.v1',
  data: z.strictObject({
    /** `null` for the limit of the installation, which belongs to no tenant. */
    tenant_id: TenantId.nullable(),
    budget_id: BudgetId,
    subject: BudgetSubject,
    window: BudgetWindow,
    amount: z.enum(['tool_calls', 'spend_minor', 'egress_bytes', 'writes']),
    percent: z.union([z.literal(75), z.literal(90), z.literal(100)]),
    /** Excludes calls in flight, which may still return their reservations. */
    used: z.int(),
    limit: z.int(),
    currency: Currency.nullable(),
    resets_at: Instant.nullable(),
    reached_at: Instant,
  }),
});

/** An agent or operator was revoked. Proofs by its keys are no longer accepted. */
export const kernelIdentityRevoked = defineEvent({
  type: 'kernel.identity.revoked.v1',
  data: z.strictObject({
    tenant_id: TenantId,
    principal_id: PrincipalId,
    kind: IdentityKind,
    revoked_at: Instant,
    revoked_by: PrincipalId,
  }),
});

/** An import of a recorder's chain found Boundary Drift: sent once for the import, with its first receipts. */
export const kernelHostDrift = defineEvent({
  type: 'kernel.host-drift.sealed.v1',
  data: z.strictObject({
    tenant_id: TenantId,
    host_chain_id: HostChainId,
    chain_id: z.string(),
    imported_by: PrincipalId,
    counts: HostDriftCounts,
    /** The receipts of the first drifts by time, at most twenty. */
    receipt_ids: z.array(ReceiptId).max(20),
    /** The number of drifts whose recorder receipt is `verified`. */
    verified: z.int().min(0),
    detected_at: Instant,
  }),
});
