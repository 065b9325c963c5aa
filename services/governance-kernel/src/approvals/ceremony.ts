import { canonicalBytes, digestOf, type CryptoProvider } from '@countersign/crypto';
import { AppError, type Digest } from '@countersign/contracts';
import type { ApprovalRow } from './approval-row.ts';

/**
 * The hash of the approver's view and of the ceremony's state. A decision names it, so it is never made on an old view.
 */
function ceremonyHash(provider: CryptoProvider, approval: Omit<ApprovalRow, 'ceremonyHash'>): Digest {
  return digestOf(
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
  ) as Digest; // digestOf writes exactly this form
}

/**
 * Did the caller name what was looked at? Checks header or body; both may be sent when they agree. Throws
 * PRECONDITION_FAILED for another state than this one.
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
    throw new AppError('PRECONDITION_FAILED', 'The approval changed since it was read', { param: 'If-Match' });
  return named.length > 0;
}

/** The row with the hash of what it says now. */
export function withCeremonyHash(provider: CryptoProvider, approval: Omit<ApprovalRow, 'ceremonyHash'>): ApprovalRow {
  return { ...approval, ceremonyHash: ceremonyHash(provider, approval) };
}
