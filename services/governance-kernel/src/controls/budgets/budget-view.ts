import { instantOrNull, instantOf, microsOf, minorTaken } from '@countersign/contracts';
import type { Budget } from '@countersign/contracts/governance-kernel';
import type { BudgetAmounts, BudgetRow, StoredBudget } from './budget-row.ts';
import { budgetFact } from './reserve.ts';
import { inWindow } from './window.ts';

/** A budget as callers see it, in the current window, whether or not a call has opened that window. */
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
    resets_at: instantOrNull(row.resetsAtMs),
    version,
    updated_at: instantOf(updatedAtMs),
  };
}

/** The remainders of a budget, at least 0. Usage may exceed a ceiling, for example after the ceiling was lowered. */
function shownLeft(row: BudgetRow): Budget['remaining'] {
  const remaining = budgetFact(row);
  return {
    tool_calls: atLeastNone(remaining.tool_calls_remaining),
    spend_minor: remaining.spend_remaining_micros === null ? null : minorLeft(remaining.spend_remaining_micros),
    egress_bytes: atLeastNone(remaining.egress_remaining_bytes),
    writes: atLeastNone(remaining.writes_remaining),
  };
}

function atLeastNone(remaining: number | null): number | null {
  return remaining === null ? null : Math.max(0, remaining);
}

/** The amount in whole minor units, rounded down, so that the reported remainder can be used. */
function minorLeft(micros: bigint): number {
  return micros < 0n ? 0 : Number(micros / microsOf(1));
}

export function shownAmounts({ spend_micros, ...counted }: BudgetAmounts): Budget['used'] {
  return { ...counted, spend_minor: minorTaken(spend_micros) };
}
