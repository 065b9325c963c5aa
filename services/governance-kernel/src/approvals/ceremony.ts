import { canonicalBytes, digestOf, type CryptoProvider } from '@countersign/crypto';
import type { Digest } from '@countersign/contracts';
import type { ApprovalRow } from './approval-row.ts';

/** Hash of what an approver looks at and of how far the ceremony is: whoever decides names it, so nobody decides on an old view. */
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
      reason: approval.reason,
      quorum: approval.quorum,
      approvers: [...approval.approvers],
      approved_by: [...approval.approvedBy],
      scope: approval.scope,
      uses_remaining: approval.usesRemaining,
      timelock_until_ms: approval.timelockUntilMs,
      expires_at_ms: approval.expiresAtMs,
    }),
  ) as Digest; // digestOf writes exactly this form
}

/** The row with the hash of what it says now. */
export function withCeremonyHash(provider: CryptoProvider, approval: Omit<ApprovalRow, 'ceremonyHash'>): ApprovalRow {
  return { ...approval, ceremonyHash: ceremonyHash(provider, approval) };
}
