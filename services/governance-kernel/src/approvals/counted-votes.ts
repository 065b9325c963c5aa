import { takesProof, type ApprovalTermsRow } from '../passkeys/approval-terms.ts';
import type { ApprovalRow } from './approval-row.ts';

/**
 * The approval with those votes alone that would count if they were given now. A quorum is made at its last vote, so what a bearer said
 * before the tenant's first passkey is no part of one that is made after it; whoever said so may vote again. It stays the state that
 * people were shown, under its hash.
 */
export function withCountedVotes(approval: ApprovalRow, terms: ApprovalTermsRow | null): ApprovalRow {
  if (approval.state !== 'pending') return approval;
  const counted = approval.approvedBy
    .map((by, nth) => ({ by, proof: approval.approvedWith[nth] ?? 'claim' }))
    .filter(({ proof }) => takesProof(terms, proof));
  return {
    ...approval,
    approvedBy: counted.map(({ by }) => by),
    approvedWith: counted.map(({ proof }) => proof),
  };
}
