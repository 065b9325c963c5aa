import { unmetPrecondition, type ApprovalFact } from '@countersign/policy';
import { sponsorOf } from '../access-keys/sponsor.ts';
import type { ApprovalRow } from '../approvals/approval-row.ts';
import { approvals } from '../approvals/approvals.ts';
import { carriedBy, type Carrying } from '../approvals/counted-votes.ts';
import { lifetimeSeconds } from '../approvals/scope.ts';
import { lockedUntil } from '../approvals/timelock.ts';
import type { Caller } from '../call/governed-call.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { approvalTerms } from '../voting/approval-terms.ts';
import type { Situation } from './facts.ts';

/**
 * Approvals that could count for exactly what is judged of this call under this policy, newest first: a later one answers a stronger
 * question. One of the same intent that was judged otherwise, or that rests on what is not so any more, is another question; one whose
 * votes count no more answers none.
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

/** A denial answers each call of the intent. A question answers calls of its own sponsor only: another sponsor may be its voter. */
function answers(row: ApprovalRow, carrying: Carrying): boolean {
  if (row.state === 'pending') return row.sponsor === null || row.sponsor === carrying.sponsor;
  if (row.state !== 'approved') return true;
  const { approvedBy, brokenBy } = carriedBy(row, carrying);
  return brokenBy !== null || approvedBy.length > 0;
}

/** The approval that was presented, else the one that stands for this call. */
export function presentedApproval(
  batch: LedgerBatch,
  { call: { caller, session, approvalGrant } }: Situation,
  standing: readonly ApprovalRow[],
): ApprovalRow | null {
  if (approvalGrant !== undefined) return batch.row(approvals, { tenant: caller.tenant, session, id: approvalGrant });
  // A denial lasts as long as its question would have: a repeated call is denied at once instead of asking again.
  const inState = (wanted: ApprovalRow['state']) => standing.find(({ state }) => state === wanted);
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

/** A grant that does not exist, or is another tenant's or session's, fits no call. */
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
