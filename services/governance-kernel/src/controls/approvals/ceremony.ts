import { canonicalBytes, type CryptoProvider } from '@countersign/crypto';
import { sha256Of, AppError, type Digest } from '@countersign/contracts';
import type { ApprovalRow } from './approval-row.ts';

/**
 * The hash of the approver's view and of the approval's state. A decision contains it, so it cannot apply to an older
 * view.
 */
function ceremonyHash(provider: CryptoProvider, approval: Omit<ApprovalRow, 'ceremonyHash'>): Digest {
  return sha256Of(
    provider,
    canonicalBytes({
      approval_id: approval.id,
      tenant_id: approval.tenant,
      state: approval.state,
      intent_hash: approval.intentHash,
      judged_hash: approval.judgedHash,
      policy_hash: approval.policyHash,
      preconditions: approval.preconditions,
      reason: approval.reason,
      quorum: approval.quorum,
      approvers: [...approval.approvers],
      approved_by: [...approval.approvedBy],
      scope: approval.scope,
      uses_remaining: approval.usesRemaining,
      timelock_seconds: approval.timelockSeconds,
      timelock_until_ms: approval.timelockUntilMs,
      broken_by: approval.brokenBy,
      expires_at_ms: approval.expiresAtMs,
    }),
  );
}

/**
 * Whether the caller named the state on which it decides, in the header, the body, or both. Throws PRECONDITION_FAILED
 * if one of them names a different state.
 */
export function requireSameCeremony(
  tags: readonly string[] | null,
  expected: Digest | undefined,
  current: Digest,
): boolean {
  const named = [
    ...(tags === null ? [] : [tags.includes(current)]),
    ...(expected === undefined ? [] : [expected === current]),
  ];
  if (named.includes(false))
    throw new AppError('PRECONDITION_FAILED', 'The approval changed after you read it. Read it again', {
      param: 'If-Match',
    });
  return named.length > 0;
}

/** The row with the hash of its current content. */
export function withCeremonyHash(provider: CryptoProvider, approval: Omit<ApprovalRow, 'ceremonyHash'>): ApprovalRow {
  return { ...approval, ceremonyHash: ceremonyHash(provider, approval) };
}
