import { grantsNoMore, usesOf, type ApprovalRequest } from '@countersign/policy';
import type { ApprovalVotes } from './approval-votes.ts';
import type { Moved } from './used-approvals.ts';

type Granted = {
  isWhole: boolean;
  firstAt: string;
  moved: Moved;
  votes: ApprovalVotes;
  uses: number;
  /** The time of the call. */
  createdAt: string;
};

/** The reason why the approval does not satisfy the terms of the rules, as text. `null` when it does. */
export function unmetTerms(terms: readonly ApprovalRequest[], granted: Granted): string | null {
  for (const each of terms) {
    const unmet = unmetTerm(each, granted);
    if (unmet !== null) return unmet;
  }
  return null;
}

/**
 * Break glass replaces the quorum and the time lock. The lifetime of an approval begins at its request, which is not
 * after its first record. A record of an earlier version has no scope, so the scope of the rule applies.
 */
function unmetTerm(term: ApprovalRequest, { isWhole, firstAt, moved, votes, uses, createdAt }: Granted): string | null {
  const { quorum, approvers, timeout, timelock = 0 } = term;
  const count = votes.count(approvers);
  if (isWhole && count < quorum && !votes.isBrokenByOneOf(approvers)) return `had ${count} of ${quorum} votes`;
  const { approved_scope: scope = term.scope, approved_preconditions: preconditions } = moved;
  const unchanged = preconditions ?? { tool_definition_hash: null, budgets: [] };
  const isWider = !grantsNoMore({ scope, timeout, timelock, preconditions: unchanged }, term);
  if (isWider || uses >= usesOf(term.scope)) return 'grants more than its rule permits';
  if (createdAt >= later(firstAt, timeout)) return 'had expired under its rule';
  return !votes.isBroken && timelock > 0 && createdAt < later(moved.at, timelock)
    ? 'was still under the time lock of its rule'
    : null;
}

function later(instant: string, seconds: number): string {
  return new Date(Date.parse(instant) + seconds * 1000).toISOString();
}
