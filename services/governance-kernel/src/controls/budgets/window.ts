import type { BudgetAmounts, BudgetRow, BudgetWindow } from './budget-row.ts';

const hourMs = 3_600_000;

export const noAmounts: BudgetAmounts = { tool_calls: 0, spend_micros: 0n, egress_bytes: 0, writes: 0 };

/**
 * The end of the window that contains `nowMs`. `null` for a budget that never resets. Months are calendar months in
 * UTC.
 */
export function windowEndMs(window: BudgetWindow, nowMs: number): number | null {
  switch (window) {
    case '1h':
      return (Math.floor(nowMs / hourMs) + 1) * hourMs;
    case '24h':
      return (Math.floor(nowMs / (24 * hourMs)) + 1) * 24 * hourMs;
    case 'month': {
      const now = new Date(nowMs);
      return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
    }
    case 'total':
      return null;
  }
}

/**
 * The budget in its current window. Reserved amounts stay reserved, since the calls that reserved them are still
 * running.
 */
export function inWindow(budget: BudgetRow, nowMs: number): BudgetRow {
  if (budget.resetsAtMs === null || nowMs < budget.resetsAtMs) return budget;
  return { ...budget, used: noAmounts, resetsAtMs: windowEndMs(budget.window, nowMs) };
}
