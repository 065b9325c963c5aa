import { instantOrNull, instantOf, Instant, type PrincipalId, type TenantId } from '@countersign/contracts';
import {
  kernelApprovalRequested,
  kernelApprovalResolved,
  kernelBudgetThreshold,
  kernelFenceSet,
  kernelGlassBroken,
  kernelHostDrift,
  kernelIdentityRevoked,
  type HostDrift,
} from '@countersign/contracts/governance-kernel';
import type { NewEvent, OutgoingEvent } from '@countersign/messaging';
import type { ApprovalRow } from './controls/approvals/approval-row.ts';
import { brokenGlass } from './controls/approvals/break-glass.ts';
import type { BudgetRow } from './controls/budgets/budget-row.ts';
import { isInstallationCeiling } from './controls/budgets/installation-ceiling.ts';
import { thresholdsReached, type Reached } from './controls/budgets/thresholds.ts';
import type { FenceRow } from './controls/fences/fence-row.ts';
import { fenceTerms } from './controls/fences/fence-view.ts';
import type { IdentityKey } from './controls/identities/identities.ts';

/*
 * The events that the kernel publishes. The ledger writes each one in the batch of its receipt. The kernel receives
 * `fence.set.v1` (workers/fence-listener.ts) and `workspace.members.changed.v1` (workers/members-listener.ts).
 */

/** The event for an approval that a person must decide. It excludes the arguments, which only the approver sees. */
export function approvalRequestedEvent({ newEvent }: { newEvent: NewEvent }, approval: ApprovalRow): OutgoingEvent {
  const data = {
    approval_id: approval.id,
    tenant_id: approval.tenant,
    session_id: approval.session,
    requested_by: approval.requestedBy,
    action: approval.action,
    tool: approval.tool,
    effect_level: approval.effectLevel,
    reason: approval.reason,
    quorum: approval.quorum,
    approvers: [...approval.approvers],
    expires_at: instantOf(approval.expiresAtMs),
    requested_at: instantOf(approval.createdAtMs),
  };
  return newEvent(kernelApprovalRequested, data, { subject: approval.id, tenantid: approval.tenant });
}

/** The event for an approval that is no longer pending. */
export function approvalResolvedEvent(
  { newEvent }: { newEvent: NewEvent },
  { approval, by }: { approval: ApprovalRow; by: PrincipalId | null },
): OutgoingEvent {
  const data = {
    approval_id: approval.id,
    tenant_id: approval.tenant,
    session_id: approval.session,
    requested_by: approval.requestedBy,
    state: approval.state,
    resolved_by: by,
    rejection_reason: approval.rejectionReason,
    timelock_until: instantOrNull(approval.timelockUntilMs),
    resolved_at: Instant.parse(new Date(approval.updatedAtMs).toISOString()),
  };
  return newEvent(kernelApprovalResolved, data, { subject: approval.id, tenantid: approval.tenant });
}

/** The event for a call that one person approved, and that would otherwise wait for others or for a time lock. */
export function glassBrokenEvent({ newEvent }: { newEvent: NewEvent }, approval: ApprovalRow): OutgoingEvent {
  const glass = brokenGlass(approval);
  if (glass === null) throw new Error('This approval was not granted by break-glass');
  const data = {
    approval_id: approval.id,
    tenant_id: approval.tenant,
    session_id: approval.session,
    action: approval.action,
    tool: approval.tool,
    effect_level: approval.effectLevel,
    broken_by: glass.by,
    reason: glass.reason,
    broken_at: glass.at,
    expires_at: instantOf(approval.expiresAtMs),
  };
  return newEvent(kernelGlassBroken, data, { subject: approval.id, tenantid: approval.tenant });
}

/** The event for a fence that was set or lifted. */
export function fenceSetEvent({ newEvent }: { newEvent: NewEvent }, fence: FenceRow): OutgoingEvent {
  return newEvent(kernelFenceSet, fenceTerms(fence), { subject: fence.scope });
}

type Use = { before: readonly BudgetRow[]; after: readonly BudgetRow[]; nowMs: number };

/**
 * The threshold events of a commit. `before` contains the budgets in the current window, and `after` the same budgets
 * in the same order. A new budget is only in `after`.
 */
export function budgetThresholdEvents(deps: { newEvent: NewEvent }, { before, after, nowMs }: Use): OutgoingEvent[] {
  return after.flatMap((budget, index) =>
    thresholdsReached(before[index] ?? null, budget).map((reached) => thresholdEvent(deps, budget, { reached, nowMs })),
  );
}

function thresholdEvent(
  { newEvent }: { newEvent: NewEvent },
  budget: BudgetRow,
  { reached, nowMs }: { reached: Reached; nowMs: number },
): OutgoingEvent {
  const tenant = isInstallationCeiling(budget) ? null : budget.tenant;
  const data = {
    tenant_id: tenant,
    budget_id: budget.id,
    subject: budget.subject,
    window: budget.window,
    ...reached,
    currency: budget.currency,
    resets_at: budget.resetsAtMs === null ? null : Instant.parse(new Date(budget.resetsAtMs).toISOString()),
    reached_at: Instant.parse(new Date(nowMs).toISOString()),
  };
  const attributes = tenant === null ? {} : { tenantid: tenant };
  return newEvent(kernelBudgetThreshold, data, { subject: budget.id, ...attributes });
}

/** The event for an agent or operator that was revoked. */
export function identityRevokedEvent(
  { newEvent }: { newEvent: NewEvent },
  revoked: IdentityKey & { revokedAtMs: number; revokedBy: PrincipalId },
): OutgoingEvent {
  const { tenant, kind, principal, revokedAtMs, revokedBy } = revoked;
  const data = {
    tenant_id: tenant,
    principal_id: principal,
    kind,
    revoked_at: Instant.parse(new Date(revokedAtMs).toISOString()),
    revoked_by: revokedBy,
  };
  return newEvent(kernelIdentityRevoked, data, { subject: `${kind}:${principal}`, tenantid: tenant });
}

const receiptsTold = 20;

type Import = { tenant: TenantId; by: PrincipalId; chainId: string; found: readonly HostDrift[]; at: Instant };

/** The event for drift: a recorder observed events that no decision permits. `null` when there is no drift. */
export function hostDriftEvent({ newEvent }: { newEvent: NewEvent }, imported: Import): OutgoingEvent | null {
  const { tenant, by, chainId, found, at } = imported;
  const [first] = found;
  if (first === undefined) return null;
  const of = (kind: HostDrift['kind']) => found.filter((one) => one.kind === kind).length;
  const data = {
    tenant_id: tenant,
    host_chain_id: first.host_chain_id,
    chain_id: chainId,
    imported_by: by,
    counts: {
      without_intent: of('without_intent'),
      after_deny: of('after_deny'),
      destination_mismatch: of('destination_mismatch'),
      volume_exceeded: of('volume_exceeded'),
    },
    receipt_ids: found.slice(0, receiptsTold).map(({ receipt_id: id }) => id),
    verified: found.filter(({ host_receipt_state: state }) => state === 'verified').length,
    detected_at: at,
  };
  return newEvent(kernelHostDrift, data, { subject: first.host_chain_id, tenantid: tenant });
}
