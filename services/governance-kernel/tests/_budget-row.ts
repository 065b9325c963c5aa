import type { BudgetAmounts, BudgetRow } from '../src/controls/budgets/budget-row.ts';
import { windowEndMs } from '../src/controls/budgets/window.ts';

export const none: BudgetAmounts = { tool_calls: 0, spend_micros: 0n, egress_bytes: 0, writes: 0 };

/** Spend is limited in minor units and counted in micros, the millionths of a minor unit. */
export const limits = { tool_calls: 20, spend_minor: 20, egress_bytes: 20, writes: 20 };

/** A budget without any usage. */
export function newBudget(changes: object = {}): BudgetRow {
  const row = {
    ...{ tenant: 'acme', id: 'b', subject: 'tenant', window: '1h', limits, approvalRequiredAboveMinor: null },
    ...{ currency: 'EUR', used: none, reserved: none, resetsAtMs: windowEndMs('1h', 0), revision: 0 },
    ...changes,
  };
  return row as BudgetRow; // plain strings instead of branded ones
}
