import type { BoundaryRecord, BudgetRemainder } from '@countersign/contracts/governance-kernel';

type Demand = NonNullable<BoundaryRecord['demand']>;

/** The first budget in the record that does not cover the call. `undefined` when there is none. */
export function exhaustedBudget({ budgets, demand }: BoundaryRecord): BudgetRemainder | undefined {
  return demand === undefined ? undefined : budgets.find((budget) => !covers(budget, demand));
}

/** A remainder is `null` where the budget has no limit. A budget with a limit of money does not cover an unknown cost. */
function covers(budget: BudgetRemainder, { tool_calls, writes, egress_bytes, spend_micros }: Demand): boolean {
  const { tool_calls_remaining, writes_remaining, egress_remaining_bytes, spend_remaining_micros: money } = budget;
  return (
    tool_calls <= (tool_calls_remaining ?? tool_calls) &&
    writes <= (writes_remaining ?? writes) &&
    egress_bytes <= (egress_remaining_bytes ?? egress_bytes) &&
    (money === null || (spend_micros !== null && BigInt(spend_micros) <= BigInt(money)))
  );
}
