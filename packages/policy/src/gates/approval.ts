import { grantsNoMore, strictestApproval } from '../approval-request.ts';
import { deny, notApplicable, unavailable } from '../gate.ts';
import type { Ask, Gate, GateInput, GateResult } from '../gate.ts';
import type { ApprovalFact } from '../facts.ts';
import { unmetPrecondition } from '../preconditions.ts';

/**
 * Answers what rules and budgets asked for. A grant counts for exactly what was judged of this call, under exactly this policy,
 * unexpired and unused. It must come from the people that every ask wants, and its scope and lifetime may be no wider than any ask's. Without
 * an ask it is neither judged nor used up. It never outweighs a denial, because a denial has ended the cycle before.
 */
export const approval: Gate = (input) => {
  const { facts, asks } = input;
  if (facts.approval.state === 'unavailable') return unavailable('approval');
  const [first] = asks;
  if (first === undefined) return notApplicable;
  const presented = facts.approval.state === 'known' ? facts.approval.value : null;
  return presented === null ? escalate(first, asks) : judge(presented, first, input);
};

function judge(
  presented: NonNullable<ApprovalFact>,
  first: Ask,
  { asks, intent, facts, policy }: GateInput,
): GateResult {
  const { state, intent_hash, judged_hash, policy_hash, expired, uses_remaining } = presented;
  if (intent_hash !== intent.intent_hash) return deny('APPROVAL_MISMATCH', 'The approval is for another call.');
  if (judged_hash !== facts.judged_hash)
    return deny('APPROVAL_MISMATCH', 'The approval is for this call with another effect, demand or fact.');
  // Stryker disable next-line ConditionalExpression: No policy has the hash null.
  // Stryker disable next-line OptionalChaining: Without a policy its gate has ended the cycle.
  if (policy_hash === null || policy_hash !== policy?.hash)
    return deny('APPROVAL_MISMATCH', 'The approval was given under another policy.');
  const unmet = unmetPrecondition(presented.preconditions, facts);
  if (unmet !== null) return deny('APPROVAL_PRECONDITION_FAILED', unmet);
  if (state === 'denied' || state === 'revoked') return deny('APPROVAL_REJECTED', rejectionText(presented));
  if (state === 'expired' || expired !== false) return deny('APPROVAL_EXPIRED', 'The approval has expired.');
  switch (state) {
    case 'pending':
      return escalate(first, asks);
    case 'approved':
      break;
    default:
      return unavailable('approval'); // a state that this version does not know lets nothing pass
  }
  if (!(uses_remaining > 0)) return deny('APPROVAL_CONSUMED', 'The approval was used.');
  // An approval of another ask of the same call, or one asked for beforehand, may lack what this rule wants or grant more than
  // it gives.
  if (!asks.every((ask) => satisfies(presented, ask.approval))) return escalate(first, asks);
  const { locked_until } = presented;
  if (locked_until !== null)
    return deny('APPROVAL_TIMELOCKED', `The approval was given, and may be used from ${locked_until} on.`);
  return { outcome: 'pass', detail: `satisfies ${asks.map(({ code }) => code).join(', ')}`, consumes_approval: true };
}

/** Contains the words of the approver who refused, since they are meant for the requester. */
function rejectionText({ rejection_reason }: NonNullable<ApprovalFact>): string {
  const text = 'The approval was refused or withdrawn';
  return rejection_reason === null ? `${text}.` : `${text}: ${rejection_reason}`;
}

function satisfies(presented: NonNullable<ApprovalFact>, request: Ask['approval']): boolean {
  const { quorum, approvers } = request;
  const { approved_by, broken_by } = presented;
  const isNamed = (approver: string) => approvers.length === 0 || approvers.includes(approver);
  // Broken glass stands for the quorum and the wait, and for nothing else that was asked.
  if (broken_by !== null)
    return isNamed(broken_by) && grantsNoMore({ ...presented, timelock: Number.POSITIVE_INFINITY }, request);
  return new Set(approved_by.filter(isNamed)).size >= quorum && grantsNoMore(presented, request);
}

function escalate(first: Ask, asks: readonly Ask[]): GateResult {
  let request = first.approval;
  for (const ask of asks) {
    const both = strictestApproval(request, ask.approval);
    if (both === null)
      return deny('APPROVAL_REJECTED', 'The rules and budgets ask for approvals that exclude each other.');
    request = both;
  }
  return { outcome: 'escalate', code: first.code, reason: first.reason, approval: request };
}
