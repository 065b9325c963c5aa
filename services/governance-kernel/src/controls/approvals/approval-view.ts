import { instantOrNull, instantOf } from '@countersign/contracts';
import type { Approval } from '@countersign/contracts/governance-kernel';
import { sentenceFor } from '@countersign/policy';
import type { LoadedPolicy } from '../policy/loaded-policy.ts';
import type { ApprovalRow } from './approval-row.ts';
import type { ArgsCipher } from './args-cipher.ts';
import { brokenGlass } from './break-glass.ts';
import { isExpired } from './expire.ts';

type Viewing = { nowMs: number; argsCipher: ArgsCipher; policy: LoadedPolicy | null };

/** An approval with its arguments and its sentence, for its approver. A resolved approval has neither. */
export function approvalWithArgs(row: ApprovalRow, { nowMs, argsCipher, policy }: Viewing): Approval {
  const view = approvalView(row, nowMs);
  if (view.state !== 'pending' || row.argsEncrypted === null) return view;
  const says = sentenceOf(row, policy);
  return { ...view, args: argsCipher.decrypt(row, row.argsEncrypted), ...(says === null ? {} : { says }) };
}

/** Only the policy that escalated the call speaks about it. */
function sentenceOf({ tool, policyHash }: ApprovalRow, policy: LoadedPolicy | null): string | null {
  if (tool === null || policy === null || policy.hash !== policyHash) return null;
  return sentenceFor(policy.policy.tools, tool);
}

/**
 * An approval as callers see it. An undecided approval reads as expired after its time, for every reader. The view
 * excludes the arguments, since an Idempotency-Key may store the view for longer than the arguments are kept.
 */
export function approvalView(row: ApprovalRow, nowMs: number): Approval {
  return {
    approval_id: row.id,
    state: isExpired(row, nowMs) ? 'expired' : row.state,
    tenant_id: row.tenant,
    requested_by: row.requestedBy,
    session_id: row.session,
    action: row.action,
    tool: row.tool,
    resource: row.resource,
    effect_level: row.effectLevel,
    demand: row.demand,
    facts: row.facts,
    ...(row.cappedFacts === null ? {} : { capped_facts: row.cappedFacts }),
    args: null,
    intent_hash: row.intentHash,
    judged_hash: row.judgedHash,
    policy_hash: row.policyHash,
    preconditions: row.preconditions,
    receipt_id: row.receiptId,
    reason: row.reason,
    quorum: row.quorum,
    approvers: [...row.approvers],
    approved_by: [...row.approvedBy],
    scope: row.scope,
    uses_remaining: row.usesRemaining,
    rejection_reason: row.rejectionReason,
    timelock_seconds: row.timelockSeconds,
    timelock_until: instantOrNull(row.timelockUntilMs),
    break_glass: brokenGlass(row),
    expires_at: instantOf(row.expiresAtMs),
    ceremony_hash: row.ceremonyHash,
    created_at: instantOf(row.createdAtMs),
    updated_at: instantOf(row.updatedAtMs),
  };
}
