import { microsOf, minorTaken, type Instant } from '@countersign/contracts';
import type { Budget } from '@countersign/contracts/governance-kernel';
import type { BudgetAmounts, BudgetRow, StoredBudget } from './budget-row.ts';
import { budgetFact } from './reserve.ts';
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
    remaining: shownLeft(row),
    resets_at: row.resetsAtMs === null ? null : instant(row.resetsAtMs),
    version,
    updated_at: instant(updatedAtMs),
  };
}

/** Below zero where more was used than the ceiling of now: nothing is left then. */
function shownLeft(row: BudgetRow): Budget['remaining'] {
  const left = budgetFact(row);
  return {
    tool_calls: atLeastNone(left.tool_calls_remaining),
    spend_minor: left.spend_remaining_micros === null ? null : minorLeft(left.spend_remaining_micros),
    egress_bytes: atLeastNone(left.egress_remaining_bytes),
    writes: atLeastNone(left.writes_remaining),
  };
}

function atLeastNone(left: number | null): number | null {
  return left === null ? null : Math.max(0, left);
}

/** Rounded down: what is told to be left can be taken. */
function minorLeft(micros: bigint): number {
  return micros < 0n ? 0 : Number(micros / microsOf(1));
}

export function shownAmounts({ spend_micros, ...counted }: BudgetAmounts): Budget['used'] {
  return { ...counted, spend_minor: minorTaken(spend_micros) };
}

function instant(ms: number): Instant {
  return new Date(ms).toISOString() as Instant; // toISOString writes exactly this form
}
