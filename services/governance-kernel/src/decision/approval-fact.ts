import { unmetPrecondition, type ApprovalFact } from '@countersign/policy';
import { sponsorOf } from '../controls/access-keys/sponsor.ts';
import type { ApprovalRow } from '../controls/approvals/approval-row.ts';
import { approvals } from '../controls/approvals/approvals.ts';
import { carriedBy, type Carrying } from '../controls/approvals/counted-votes.ts';
import { lifetimeSeconds } from '../controls/approvals/scope.ts';
import { lockedUntil } from '../controls/approvals/timelock.ts';
import type { Caller } from '../call/governed-call.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { approvalTerms } from '../controls/voting/approval-terms.ts';
import type { Situation } from './facts.ts';

/**
 * The unexpired approvals of this exact call under this policy, newest first, since a later request may demand more. An
 * approval with other judged values or broken preconditions belongs to another request. The function `answers` excludes
 * those that do not apply to this caller.
 */
export function standingApprovals(
  batch: LedgerBatch,
  { call, intent, judged, policy, nowMs }: Situation,
  factsNow: () => Parameters<typeof unmetPrecondition>[1],
): ApprovalRow[] {
  const carrying = carryingOf(batch, call.caller);
  return batch
    .rows(approvals, { tenant: call.caller.tenant, session: call.session, intentHash: intent.intent_hash })
    .filter(
      (row) => nowMs < row.expiresAtMs && row.policyHash === (policy?.hash ?? null) && row.judgedHash === judged.hash,
    )
    .filter((row) => answers(row, carrying))
    .filter(({ preconditions }) => unmetPrecondition(preconditions, factsNow()) === null)
    .sort((left, right) => (left.id < right.id ? 1 : -1));
}

function carryingOf(batch: LedgerBatch, caller: Caller): Carrying {
  return { terms: batch.row(approvalTerms, caller.tenant), sponsor: sponsorOf(batch, caller) };
}

/**
 * Whether the approval applies to a call of this caller. A pending request with a sponsor applies only to calls of that
 * sponsor, since others may vote on it. An approved one needs enough votes that still count, or a break-glass decision
 * that still counts. Other states always apply.
 */
function answers(row: ApprovalRow, carrying: Carrying): boolean {
  if (row.state === 'pending') return row.sponsor === null || row.sponsor === carrying.sponsor;
  if (row.state !== 'approved') return true;
  const { approvedBy, brokenBy } = carriedBy(row, carrying);
  return brokenBy !== null || approvedBy.length > 0;
}

/**
 * The approval that the call names. For a call that names none: an approved one, else a pending one, else a denied one.
 */
export function presentedApproval(
  batch: LedgerBatch,
  { call: { caller, session, approvalGrant } }: Situation,
  active: readonly ApprovalRow[],
): ApprovalRow | null {
  if (approvalGrant !== undefined) return batch.row(approvals, { tenant: caller.tenant, session, id: approvalGrant });
  // A denial applies until its request would have expired. A repeated call is then denied at once and opens no new
  // request.
  const inState = (wanted: ApprovalRow['state']) => active.find(({ state }) => state === wanted);
  return inState('approved') ?? inState('pending') ?? inState('denied') ?? null;
}

export function approvalFact(
  batch: LedgerBatch,
  { call, nowMs }: Situation,
  approval: ApprovalRow | null,
): ApprovalFact {
  if (approval !== null) return factOf(approval, { nowMs, carrying: carryingOf(batch, call.caller) });
  return call.approvalGrant === undefined ? null : unknownGrant(call.approvalGrant);
}

type Now = { nowMs: number; carrying: Carrying };

function factOf(row: ApprovalRow, { nowMs, carrying }: Now): NonNullable<ApprovalFact> {
  const { approvedBy, brokenBy } = carriedBy(row, carrying);
  return {
    approval_id: row.id,
    state: row.state === 'consumed' ? 'approved' : row.state,
    intent_hash: row.intentHash,
    judged_hash: row.judgedHash,
    policy_hash: row.policyHash,
    preconditions: row.preconditions,
    approved_by: approvedBy,
    broken_by: brokenBy,
    scope: row.scope,
    timeout: lifetimeSeconds(row),
    timelock: row.timelockSeconds,
    locked_until: lockedUntil(row, nowMs),
    uses_remaining: row.usesRemaining,
    expired: nowMs >= row.expiresAtMs,
    rejection_reason: row.rejectionReason,
  };
}

/** The fact for a grant that does not exist, or belongs to another tenant or session. Its values match no call. */
function unknownGrant(approvalId: string): NonNullable<ApprovalFact> {
  return {
    approval_id: approvalId,
    state: 'approved',
    intent_hash: '',
    judged_hash: '',
    policy_hash: null,
    preconditions: { tool_definition_hash: null, budgets: null },
    approved_by: [],
    broken_by: null,
    scope: 'once',
    timeout: 0,
    timelock: 0,
    locked_until: null,
    uses_remaining: 0,
    expired: false,
    rejection_reason: null,
  };
}
