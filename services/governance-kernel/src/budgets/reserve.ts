import type { BudgetFact, Demand } from '@countersign/policy';
import type { BudgetRow } from './budget-row.ts';

/** Whose budgets limit this call. A budget of another subject cannot exist: its table refuses it. */
export function budgetSubjects({ principal, tool }: { principal: string; tool: string | null }): string[] {
  const ofEveryCall = ['tenant', `principal:${principal}`, `agent:${principal}`];
  return tool === null ? ofEveryCall : [...ofEveryCall, `tool:${tool}`];
}

/** What a dispatched call holds of a budget until it is settled. */
export type Reservation = { readonly budget_id: BudgetRow['id']; readonly demand: Demand };

/** What is left of a budget for this decision. */
export function budgetFact(budget: BudgetRow): BudgetFact {
  return {
    budget_id: budget.id,
    tool_calls_remaining: remaining(budget, 'tool_calls'),
    spend_remaining_minor: remaining(budget, 'spend_minor'),
    egress_remaining_bytes: remaining(budget, 'egress_bytes'),
    writes_remaining: remaining(budget, 'writes'),
    approval_required_above_minor: budget.approvalRequiredAboveMinor,
    currency: budget.currency,
  };
}

function remaining(budget: BudgetRow, amount: keyof Demand): number | null {
  const limit = budget.limits[amount];
  return limit === null ? null : limit - budget.used[amount] - budget.reserved[amount];
}

/** Takes the demand now: for calls whose end the kernel never hears of. */
export function spend(budget: BudgetRow, demand: Demand): BudgetRow {
  return { ...budget, used: combine(budget.used, demand, 1) };
}

/** Holds the demand until the call is settled. */
export function reserve(budget: BudgetRow, demand: Demand): BudgetRow {
  return { ...budget, reserved: combine(budget.reserved, demand, 1) };
}

/** Turns a reservation into what was really used. */
export function settleReservation(budget: BudgetRow, { demand }: Reservation, actual: Demand): BudgetRow {
  const reserved = combine(budget.reserved, demand, -1);
  return { ...budget, reserved, used: combine(budget.used, actual, 1) };
}

function combine(amounts: Demand, change: Demand, sign: 1 | -1): Demand {
  const moved = (amount: keyof Demand) => bounded(amounts[amount] + sign * change[amount]);
  return {
    tool_calls: moved('tool_calls'),
    spend_minor: moved('spend_minor'),
    egress_bytes: moved('egress_bytes'),
    writes: moved('writes'),
  };
}

/** Beyond 2^53 numbers stop counting; an amount that would not fit its column must not take the batch of others down. */
function bounded(amount: number): number {
  return Math.max(0, Math.min(amount, Number.MAX_SAFE_INTEGER));
}
