import { minorTaken, type Instant } from '@countersign/contracts';
import type { Budget } from '@countersign/contracts/governance-kernel';
import type { BudgetAmounts, StoredBudget } from './budget-row.ts';
import { inWindow } from './window.ts';

/** A budget as callers see it: in the window that holds now, whether or not a call has opened it yet. */
export function budgetView({ row: stored, version, updatedAtMs }: StoredBudget, nowMs: number): Budget {
  const row = inWindow(stored, nowMs);
  return {
    budget_id: row.id,
    subject: row.subject,
    window: row.window,
    tool_call_limit: row.limits.tool_calls,
    spend_limit_minor: row.limits.spend_minor,
    currency: row.currency,
    egress_limit_bytes: row.limits.egress_bytes,
    write_limit: row.limits.writes,
    approval_required_above_minor: row.approvalRequiredAboveMinor,
    used: shownAmounts(row.used),
    reserved: shownAmounts(row.reserved),
    resets_at: row.resetsAtMs === null ? null : instant(row.resetsAtMs),
    version,
    updated_at: instant(updatedAtMs),
  };
}

function shownAmounts({ spend_micros, ...counted }: BudgetAmounts): Budget['used'] {
  return { ...counted, spend_minor: minorTaken(spend_micros) };
}

function instant(ms: number): Instant {
  return new Date(ms).toISOString() as Instant; // toISOString writes exactly this form
}
