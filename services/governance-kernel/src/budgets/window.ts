import type { BudgetRow, BudgetWindow } from './budget-row.ts';

const hourMs = 3_600_000;

/** When the window that holds `nowMs` ends; null for a budget that never resets. Months are calendar months in UTC. */
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

/** Starts a new window when the old one is over. What is reserved stays reserved: those calls are still running. */
export function rollWindow(budget: BudgetRow, nowMs: number): boolean {
  if (budget.resetsAtMs === null || nowMs < budget.resetsAtMs) return false;
  budget.used = { tool_calls: 0, spend_minor: 0, egress_bytes: 0, writes: 0 };
  budget.resetsAtMs = windowEndMs(budget.window, nowMs);
  return true;
}
