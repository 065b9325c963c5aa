import type { PrincipalId } from '@countersign/contracts';
import { samePerson } from '@countersign/policy';
import { takesProof, type ApprovalTermsRow, type VoteProof } from '../voting/approval-terms.ts';
import type { ApprovalRow } from './approval-row.ts';
import { stillCounts, type Electorate, type VoterRole } from '../voting/decision-rights.ts';

/**
 * The approval with those votes alone that would count if they were given now. A quorum is made at its last vote, so it
 * holds no vote of a bearer from before the tenant's first passkey. Votes of a revoked operator, or of a member who was
 * removed or demoted since, do not count either. A person whose vote counts no more may vote again. It stays the state
 * that people were shown, under its hash.
 */
export function withCountedVotes(approval: ApprovalRow, electorate: Electorate): ApprovalRow {
  if (approval.state !== 'pending') return approval;
  const votes = votesOf(approval).filter((vote) => stillCounts(electorate, approval, vote));
  return { ...approval, ...asColumns(votes.filter((vote, nth) => isFirstOf(votes, vote, nth))) };
}

/** One vote for each credential, the key of the operators included. */
function isFirstOf(votes: readonly ApprovingVote[], { credential }: ApprovingVote, nth: number): boolean {
  return credential === '' || votes.findIndex((other) => other.credential === credential) === nth;
}

/** The approval with one vote more. */
export function withVote(approval: ApprovalRow, vote: ApprovingVote): Pick<ApprovalRow, VoteColumn> {
  return asColumns([...votesOf(approval), vote]);
}

/** A vote of before has no role and no credential where the kernel did not keep them yet. */
type ApprovingVote = { by: PrincipalId; proof: VoteProof; role: VoterRole | ''; credential: string };
type VoteColumn = 'approvedBy' | 'approvedWith' | 'approvedAs' | 'approvedCredentials';

export function votesOf({ approvedBy, approvedWith, approvedAs, approvedCredentials }: ApprovalRow): ApprovingVote[] {
  return approvedBy.map((by, nth) => {
    const proof = approvedWith[nth] ?? 'claim';
    const credential = approvedCredentials[nth] ?? (proof === 'claim' ? 'operator_bearer' : '');
    return { by, proof, role: approvedAs[nth] ?? '', credential };
  });
}

function asColumns(votes: readonly ApprovingVote[]): Pick<ApprovalRow, VoteColumn> {
  return {
    approvedBy: votes.map(({ by }) => by),
    approvedWith: votes.map(({ proof }) => proof),
    approvedAs: votes.map(({ role }) => role),
    approvedCredentials: votes.map(({ credential }) => credential),
  };
}

/** The effect of a given approval under the current terms. */
type Carried = Pick<ApprovalRow, 'brokenBy'> & { approvedBy: PrincipalId[] };

/** The conditions of a call: the current terms, and the person behind it. */
export type Carrying = { readonly terms: ApprovalTermsRow | null; readonly sponsor: PrincipalId | null };

/**
 * The approvers whose votes still count: all who made the quorum, or none. An approval that a bearer completed before
 * the tenant's first passkey carries no call after it. The vote of the person behind this call counts only if a call of
 * theirs requested the approval: then it was judged when it was given. The key of the operators proves no person.
 */
export function carriedBy(approval: ApprovalRow, { terms, sponsor }: Carrying): Carried {
  const { brokenBy, brokenWith, quorum } = approval;
  const isOwn = (by: PrincipalId, proof: VoteProof) =>
    proof !== 'claim' && sponsor !== null && sponsor !== approval.sponsor && samePerson(by, sponsor);
  const votes = votesOf(approval)
    .filter(({ by, proof }) => takesProof(terms, proof) && !isOwn(by, proof))
    .map(({ by }) => by);
  const glass = brokenWith ?? 'claim';
  const isBroken = brokenBy !== null && takesProof(terms, glass) && !isOwn(brokenBy, glass);
  return { brokenBy: isBroken ? brokenBy : null, approvedBy: votes.length >= quorum ? votes : [] };
}
