import { Instant, type PrincipalId, type TenantId } from '@countersign/contracts';
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
import type { ApprovalRow } from './approvals/approval-row.ts';
import { brokenGlass } from './approvals/break-glass.ts';
import { instant } from './approvals/timelock.ts';
import type { BudgetRow } from './budgets/budget-row.ts';
import { isInstallationCeiling } from './budgets/installation-ceiling.ts';
import { thresholdsReached, type Reached } from './budgets/thresholds.ts';
import type { FenceRow } from './fences/fence-row.ts';
import { fenceTerms } from './fences/fence-view.ts';
import type { IdentityKey } from './identities/identities.ts';

/*
 * The events that the kernel publishes. It commits with what it tells: the ledger writes it in the batch of its
 * receipt. The kernel hears `fence.set.v1` (workers/fence-listener.ts) and `workspace.members.changed.v1`
 * (workers/members-listener.ts).
 */

/** A person is asked to decide. The event leaves out the arguments, which only the approver sees. */
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
    expires_at: instant(approval.expiresAtMs),
    requested_at: instant(approval.createdAtMs),
  };
  return newEvent(kernelApprovalRequested, data, { subject: approval.id, tenantid: approval.tenant });
}

/** An approval is pending no more. */
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
    timelock_until: approval.timelockUntilMs === null ? null : instant(approval.timelockUntilMs),
    resolved_at: Instant.parse(new Date(approval.updatedAtMs).toISOString()),
  };
  return newEvent(kernelApprovalResolved, data, { subject: approval.id, tenantid: approval.tenant });
}

/** One person approved what others or time would have held. */
export function glassBrokenEvent({ newEvent }: { newEvent: NewEvent }, approval: ApprovalRow): OutgoingEvent {
  const glass = brokenGlass(approval);
  if (glass === null) throw new Error('The glass was not broken');
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
    expires_at: instant(approval.expiresAtMs),
  };
  return newEvent(kernelGlassBroken, data, { subject: approval.id, tenantid: approval.tenant });
}

/** A scope is fenced, or open again. */
export function fenceSetEvent({ newEvent }: { newEvent: NewEvent }, fence: FenceRow): OutgoingEvent {
  return newEvent(kernelFenceSet, fenceTerms(fence), { subject: fence.scope });
}

type Use = { before: readonly BudgetRow[]; after: readonly BudgetRow[]; nowMs: number };

/**
 * The threshold events of a commit for budgets that were at `before` in the current window, each at the same place in
 * `after`.
 */
export function budgetThresholdEvents(parts: { newEvent: NewEvent }, { before, after, nowMs }: Use): OutgoingEvent[] {
  return after.flatMap((budget, index) =>
    thresholdsReached(before[index] ?? null, budget).map((reached) =>
      thresholdEvent(parts, budget, { reached, nowMs }),
    ),
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

/** An agent or operator was revoked. */
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

/** A recorder saw what no decision covers. Null: nothing was found. */
export function hostDriftEvent({ newEvent }: { newEvent: NewEvent }, told: Import): OutgoingEvent | null {
  const { tenant, by, chainId, found, at } = told;
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
