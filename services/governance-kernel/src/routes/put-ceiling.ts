import { putCeiling } from '@countersign/contracts/governance-kernel';
import { canonicalize } from '@countersign/crypto';
import type { BudgetRow, StoredBudget } from '../budgets/budget-row.ts';
import { budgetView } from '../budgets/budget-view.ts';
import { changeBudget } from '../budgets/change-budget.ts';
import { assertSameMoney, type BudgetTerms } from '../budgets/terms.ts';
import type { Context } from '../context.ts';
import { handleSystem } from '../handle.ts';
import { risingMove } from '../policy/rising-version.ts';

/** Sets a budget that a plan or a workspace owns, under the version that its source gives it. */
export const putCeilingRoute = (kernel: Context) =>
  handleSystem(putCeiling)(async ({ params, body: { version, ...terms }, caller }) => {
    const { budget } = await changeBudget(kernel, {
      tenant: params.tenant,
      id: params.ceiling_id,
      terms,
      by: caller.principal,
      versionAfter: (standing) => versionAfter(standing, version, terms),
      carryOn,
    });
    return budgetView(budget, kernel.clock().getTime());
  });

function versionAfter(standing: StoredBudget | null, version: number, terms: BudgetTerms): number | null {
  const isSame = () => standing !== null && canonicalize(termsOf(standing.row)) === canonicalize({ ...terms });
  return risingMove(standing, { version }, isSame) === 'set' ? version : null;
}

/** What was spent in another currency cannot be compared, so the count begins anew. What is reserved is still on its way. */
function carryOn(row: BudgetRow, terms: BudgetTerms): BudgetRow {
  if (row.currency === terms.currency) return row;
  assertSameMoney(row.reserved.spend_micros, row, terms);
  return { ...row, used: { ...row.used, spend_micros: 0n } };
}

function termsOf({ subject, window, limits, currency, approvalRequiredAboveMinor }: BudgetRow): BudgetTerms {
  return {
    subject,
    window,
    tool_call_limit: limits.tool_calls,
    spend_limit_minor: limits.spend_minor,
    currency,
    egress_limit_bytes: limits.egress_bytes,
    write_limit: limits.writes,
    approval_required_above_minor: approvalRequiredAboveMinor,
  };
}
