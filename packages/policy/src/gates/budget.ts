import { ordinaryApproval } from '../approval-request.ts';
import { deny, notApplicable, pass, unavailable } from '../gate.ts';
import type { Gate } from '../gate.ts';
import type { BudgetFact, Demand } from '../facts.ts';

/** Every ceiling of every budget holds before any budget may ask: an exhausted budget denies even with an approval. */
export const budget: Gate = ({ facts }) => {
  if (facts.budgets.state === 'not_applicable') return notApplicable;
  if (facts.budgets.state !== 'known') return unavailable('budget');
  const budgets = facts.budgets.value;
  const exceeded = budgets.find((candidate) => !holds(candidate, facts.demand));
  if (exceeded !== undefined) return deny('BUDGET_EXCEEDED', `Budget ${exceeded.budget_id} does not cover the call.`);
  const asking = budgets.find((candidate) => asksFor(candidate, facts.demand));
  if (asking === undefined) return pass;
  const reason = `Budget ${asking.budget_id} asks for an approval above its threshold.`;
  return { outcome: 'ask', rules: [], ask: { code: 'BUDGET_APPROVAL_REQUIRED', reason, approval: ordinaryApproval } };
};

function holds(candidate: BudgetFact, demand: Demand): boolean {
  return (
    covers(candidate.tool_calls_remaining, demand.tool_calls) &&
    covers(candidate.spend_remaining_minor, demand.spend_minor) &&
    covers(candidate.egress_remaining_bytes, demand.egress_bytes) &&
    covers(candidate.writes_remaining, demand.writes)
  );
}

// Written so that a demand that is negative or not a number covers nothing; the opposite comparisons would let it pass.
function covers(remaining: number | null, demanded: number): boolean {
  return demanded >= 0 && (remaining === null || demanded <= remaining);
}

function asksFor({ approval_required_above_minor: threshold }: BudgetFact, { spend_minor }: Demand): boolean {
  return threshold !== null && !(spend_minor <= threshold);
}
