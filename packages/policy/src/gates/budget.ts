import { microsOf } from '@countersign/contracts';
import { ordinaryApproval } from '../approval-request.ts';
import { deny, notApplicable, pass, unavailable } from '../gate.ts';
import type { Gate } from '../gate.ts';
import type { BudgetFact, Demand } from '../facts.ts';
import type { Intent } from '../intent.ts';

/**
 * Every budget must cover the call before any budget may request an approval. An exhausted budget denies even with an
 * approval.
 */
export const budget: Gate = ({ facts, intent }) => {
  if (facts.budgets.state === 'not_applicable') return notApplicable;
  if (facts.budgets.state !== 'known') return unavailable('budget');
  const budgets = facts.budgets.value;
  const unpriced = facts.demand.spend_micros === null ? budgets.find(countsMoney) : undefined;
  if (unpriced !== undefined)
    return deny('PRICE_UNKNOWN', `Budget ${unpriced.budget_id} counts money, and ${priceFault(intent)}.`);
  const foreign = facts.priced_in === undefined ? undefined : budgets.find(isInOtherThan(facts.priced_in));
  if (foreign !== undefined)
    return deny(
      'PRICE_UNKNOWN',
      `Budget ${foreign.budget_id} is in ${foreign.currency}, and the prices of models are in ${facts.priced_in}.`,
    );
  const exceeded = budgets.find((candidate) => !holds(candidate, facts.demand));
  if (exceeded !== undefined) return deny('BUDGET_EXCEEDED', `Budget ${exceeded.budget_id} does not cover the call.`);
  const asking = budgets.find((candidate) => asksFor(candidate, facts.demand));
  if (asking === undefined) return pass;
  const reason = `Budget ${asking.budget_id} asks for an approval above its threshold.`;
  return { outcome: 'ask', rules: [], ask: { code: 'BUDGET_APPROVAL_REQUIRED', reason, approval: ordinaryApproval } };
};

/**
 * The reason why the maximum cost of a call is unknown. In a model call, `args.priced_apart` lists what no price table
 * covers (docs/model-calls.md).
 */
function priceFault({ resource, args }: Intent): string {
  const pricedApart = args['priced_apart'];
  if (Array.isArray(pricedApart) && pricedApart.length > 0)
    return `the price table does not cover ${pricedApart.join(', ')}`;
  const model = resource === null ? 'the call' : JSON.stringify(resource);
  return `the price table has no price for ${model}, or no input_tokens_max for its content other than text`;
}

function holds(candidate: BudgetFact, demand: Demand): boolean {
  return (
    covers(candidate.tool_calls_remaining, demand.tool_calls) &&
    coversSpend(candidate.spend_remaining_micros, demand.spend_micros) &&
    covers(candidate.egress_remaining_bytes, demand.egress_bytes) &&
    covers(candidate.writes_remaining, demand.writes)
  );
}

// These comparisons reject a demand that is negative or not a number. The inverse comparisons would accept it.
function covers(remaining: number | null, demanded: number): boolean {
  return demanded >= 0 && (remaining === null || demanded <= remaining);
}

function countsMoney(candidate: BudgetFact): boolean {
  return candidate.spend_remaining_micros !== null || candidate.approval_required_above_minor !== null;
}

const isInOtherThan = (currency: string) => (candidate: BudgetFact) =>
  countsMoney(candidate) && candidate.currency !== currency;

/** The spend of a call may be unknown if the budget does not limit the spend. */
function coversSpend(remaining: bigint | null, demanded: bigint | null): boolean {
  // Stryker disable next-line ConditionalExpression: `null >= 0n` is true.
  if (remaining === null) return demanded === null || demanded >= 0n;
  // Stryker disable next-line ConditionalExpression: A budget that counts money denies calls without a price.
  return demanded !== null && demanded >= 0n && demanded <= remaining;
}

function asksFor({ approval_required_above_minor: threshold }: BudgetFact, { spend_micros }: Demand): boolean {
  // Stryker disable next-line ConditionalExpression: A budget that counts money denies calls without a price.
  return threshold !== null && !(spend_micros !== null && spend_micros <= microsOf(threshold));
}
