import type { PrincipalId } from '@countersign/contracts';
import { samePerson } from '@countersign/policy';
import { takesProof, type ApprovalTermsRow, type VoteProof } from '../voting/approval-terms.ts';
import type { ApprovalRow } from './approval-row.ts';
import { stillCounts, type Electorate, type VoterRole } from '../voting/decision-rights.ts';

/**
 * A pending approval with only the votes that would still count now. Earlier votes are checked again because the last
 * vote completes the quorum. Votes by key from before the tenant's first passkey do not count. Votes of a revoked
 * operator, or of a member who was removed or demoted since, do not count either. Each credential counts once. A person
 * whose vote no longer counts may vote again. The state and its hash stay as people saw them. A decided approval is
 * unchanged.
 */
export function withCountedVotes(approval: ApprovalRow, electorate: Electorate): ApprovalRow {
  if (approval.state !== 'pending') return approval;
  const votes = votesOf(approval).filter((vote) => stillCounts(electorate, approval, vote));
  return { ...approval, ...asColumns(votes.filter((vote, nth) => isFirstOf(votes, vote, nth))) };
}

/**
 * Whether this is the first vote with its credential, such as the operator key. Votes without a stored credential
 * always count.
 */
function isFirstOf(votes: readonly ApprovingVote[], { credential }: ApprovingVote, nth: number): boolean {
  return credential === '' || votes.findIndex((candidate) => candidate.credential === credential) === nth;
}

/** The approval with one more vote. */
export function withVote(approval: ApprovalRow, vote: ApprovingVote): Pick<ApprovalRow, VoteColumn> {
  return asColumns([...votesOf(approval), vote]);
}

/** `role` and `credential` are empty for votes from before the kernel stored them. */
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

/** The people whose approval still counts under the current terms. `approvedBy` is empty below the quorum. */
type Carried = Pick<ApprovalRow, 'brokenBy'> & { approvedBy: PrincipalId[] };

/** The conditions of a call: the current terms, and the person behind the call. */
export type Carrying = { readonly terms: ApprovalTermsRow | null; readonly sponsor: PrincipalId | null };

/**
 * The approvers, if enough votes still count for this call, and the person who broke the glass, if that still counts.
 * Votes by a proof that the terms no longer accept do not count, such as a key after the tenant's first passkey. A
 * proven vote of the person behind this call counts only if that person is also the sponsor of the approval, since the
 * four-eyes rule was applied when they voted.
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
