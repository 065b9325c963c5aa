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

/** A person is asked: an approval is pending. The details of the call are on its page, for those who may decide it. */
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
    /** Who may decide it; empty: everybody but who asked. */
    approvers: z.array(PrincipalId),
    expires_at: Instant,
    requested_at: Instant,
  }),
});

/** An approval left `pending`, so a caller that parked a call for it can continue. */
export const kernelApprovalResolved = defineEvent({
  type: 'kernel.approval.resolved.v1',
  data: z.strictObject({
    approval_id: ApprovalId,
    tenant_id: TenantId,
    session_id: SessionId,
    /** Null in an event of before this member. */
    requested_by: PrincipalId.nullable().default(null),
    state: ApprovalState,
    /** Null: its time ran out. */
    resolved_by: PrincipalId.nullable(),
    rejection_reason: z.string().nullable(),
    /** Until when the approved call waits. An event of before this member says nothing of it, and the kernel judges the call anyway. */
    timelock_until: Instant.nullable().default(null),
    resolved_at: Instant,
  }),
});

/** One person approved alone what a quorum or a time lock would have held. */
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
    /** Until when the call may be made, once. */
    expires_at: Instant,
  }),
});

/** A fence was set or lifted: every kernel keeps to it. */
export const kernelFenceSet = defineEvent({
  type: 'kernel.fence.set.v1',
  data: Fence.omit({ calls_taken: true }),
});

/** A command to the kernel, as one to `put-fence`: it holds from its transaction on, unless its epoch is not above the one that stands. */
export const fenceSet = defineEvent({ type: 'fence.set.v1', data: ScopedFenceCommand, needsConsumer: true });

/**
 * The usage of a budget reached a threshold of one of its ceilings: sent once for each threshold, window and ceiling.
 */
export const kernelBudgetThreshold = defineEvent({
  type: 'kernel.budget.threshold.v1',
  data: z.strictObject({
    /** Null: the ceiling of the installation, which is no tenant's. */
    tenant_id: TenantId.nullable(),
    budget_id: BudgetId,
    subject: BudgetSubject,
    window: BudgetWindow,
    amount: z.enum(['tool_calls', 'spend_minor', 'egress_bytes', 'writes']),
    percent: z.union([z.literal(75), z.literal(90), z.literal(100)]),
    /** Calls on their way, which may still give back what they hold, do not count. */
    used: z.int(),
    limit: z.int(),
    currency: Currency.nullable(),
    resets_at: Instant.nullable(),
    reached_at: Instant,
  }),
});

/** An agent or operator was revoked: nothing that is proven by its keys is taken any more. */
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
    /** The receipts of at most twenty of them, the first ones by time. */
    receipt_ids: z.array(ReceiptId).max(20),
    /** How many of all rest on a receipt of the recorder that is `verified`. */
    verified: z.int().min(0),
    detected_at: Instant,
  }),
});
