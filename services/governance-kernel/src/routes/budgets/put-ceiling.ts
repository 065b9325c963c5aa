import { putCeiling } from '@countersign/contracts/governance-kernel';
import type { StoredBudget } from '../../controls/budgets/budget-row.ts';
import { budgetView } from '../../controls/budgets/budget-view.ts';
import { changeBudget } from '../../controls/budgets/change-budget.ts';
import { countedIn, sameTerms, type BudgetTerms } from '../../controls/budgets/terms.ts';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { risingMove } from '../../controls/policy/rising-version.ts';

/** Sets a budget of a plan or a workspace, with the version that the caller assigned. */
export const putCeilingRoute = (kernel: Context) =>
  handleSystem(putCeiling)(async ({ params, body: { version, ...terms }, caller }) => {
    const { budget } = await changeBudget(kernel, {
      tenant: params.tenant,
      id: params.budget_id,
      terms,
      by: caller.principal,
      versionAfter: (current, wanted) => versionAfter(current, version, wanted),
      carryOn: countedIn,
    });
    return budgetView(budget, kernel.clock().getTime());
  });

function versionAfter(current: StoredBudget | null, version: number, terms: BudgetTerms): number | null {
  const isSame = () => current !== null && sameTerms(current.row, terms);
  return risingMove(current, { version }, isSame) === 'set' ? version : null;
}
