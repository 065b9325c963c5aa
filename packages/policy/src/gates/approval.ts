import { grantsNoMore, strictestApproval } from '../approval-request.ts';
import { deny, notApplicable, unavailable } from '../gate.ts';
import type { Ask, Gate, GateInput, GateResult } from '../gate.ts';
import type { ApprovalFact } from '../facts.ts';
import { unmetPrecondition } from '../preconditions.ts';

/**
 * Answers the approval requests of rules and budgets. A grant counts only for the judged call under the same policy,
 * unexpired and with a use left. Its approvers must satisfy every request. Its scope and lifetime may not exceed any
 * request. Without a request, the grant is neither judged nor consumed. A grant never overrides a denial, because no
 * gate runs after a denial.
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
  if (intent_hash !== intent.intent_hash) return deny('APPROVAL_MISMATCH', 'The approval is for a different call.');
  if (judged_hash !== facts.judged_hash)
    return deny('APPROVAL_MISMATCH', 'The approval is for the same call with a different effect, demand or fact.');
  // Stryker disable next-line ConditionalExpression: No policy has the hash null.
  // Stryker disable next-line OptionalChaining: Without a policy, the policy gate has denied the call.
  if (policy_hash === null || policy_hash !== policy?.hash)
    return deny('APPROVAL_MISMATCH', 'The policy changed after the approval. Request a new approval.');
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
      return unavailable('approval'); // an unknown state denies
  }
  if (!(uses_remaining > 0)) return deny('APPROVAL_CONSUMED', 'The approval has no uses left.');
  // The approval may answer another request for this call, or was requested in advance. It may then lack a requirement
  // of this rule, or grant more than the rule permits.
  if (!asks.every((ask) => satisfies(presented, ask.approval))) return escalate(first, asks);
  const { locked_until } = presented;
  if (locked_until !== null)
    return deny(
      'APPROVAL_TIMELOCKED',
      `The time lock of the approval ends at ${locked_until}. Repeat the same call then.`,
    );
  return { outcome: 'pass', detail: `satisfies ${asks.map(({ code }) => code).join(', ')}`, consumes_approval: true };
}

/** Includes the reason of the approver, which is meant for the requester. */
function rejectionText({ rejection_reason }: NonNullable<ApprovalFact>): string {
  const text = 'The approval was refused or withdrawn';
  return rejection_reason === null ? `${text}.` : `${text}: ${rejection_reason}`;
}

function satisfies(presented: NonNullable<ApprovalFact>, request: Ask['approval']): boolean {
  const { quorum, approvers } = request;
  const { approved_by, broken_by } = presented;
  const isNamed = (approver: string) => approvers.length === 0 || approvers.includes(approver);
  // Breaking glass replaces the quorum and the time lock. All other requirements still apply.
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
