import type { PrincipalId } from '@countersign/contracts';
import { takesProof, type ApprovalTermsRow } from '../passkeys/approval-terms.ts';
import type { ApprovalRow } from './approval-row.ts';

/** What decides whose earlier vote still counts. */
type Counting = {
  terms: ApprovalTermsRow | null;
  isRevoked(operator: PrincipalId): boolean;
};

/**
 * The approval with those votes alone that would count if they were given now. A quorum is made at its last vote, so what a bearer said
 * before the tenant's first passkey, or an operator who was revoked since, is no part of one that is made after it. Whose proof counts
 * no more may vote again. It stays the state that people were shown, under its hash.
 */
export function withCountedVotes(approval: ApprovalRow, { terms, isRevoked }: Counting): ApprovalRow {
  if (approval.state !== 'pending') return approval;
  const counted = provenVotes(approval, terms).filter(({ by }) => !isRevoked(by));
  return {
    ...approval,
    approvedBy: counted.map(({ by }) => by),
    approvedWith: counted.map(({ proof }) => proof),
  };
}

/** What an approval that was given is worth under the terms of now. */
type Carried = Pick<ApprovalRow, 'brokenBy'> & { approvedBy: PrincipalId[] };

/**
 * Who approved, as far as it still counts: all who made the quorum, or nobody. What a bearer completed before the tenant's first passkey
 * carries no call after it.
 */
export function carriedBy(approval: ApprovalRow, terms: ApprovalTermsRow | null): Carried {
  const { brokenBy, brokenWith, quorum } = approval;
  const votes = provenVotes(approval, terms).map(({ by }) => by);
  return {
    brokenBy: brokenBy !== null && takesProof(terms, brokenWith ?? 'claim') ? brokenBy : null,
    approvedBy: votes.length >= quorum ? votes : [],
  };
}

function provenVotes({ approvedBy, approvedWith }: ApprovalRow, terms: ApprovalTermsRow | null) {
  return approvedBy
    .map((by, nth) => ({ by, proof: approvedWith[nth] ?? 'claim' }))
    .filter(({ proof }) => takesProof(terms, proof));
}
