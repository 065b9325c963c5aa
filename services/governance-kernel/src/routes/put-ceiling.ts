import { putCeiling } from '@countersign/contracts/governance-kernel';
import type { StoredBudget } from '../budgets/budget-row.ts';
import { budgetView } from '../budgets/budget-view.ts';
import { changeBudget } from '../budgets/change-budget.ts';
import { countedIn, sameTerms, type BudgetTerms } from '../budgets/terms.ts';
import type { Context } from '../context.ts';
import { handleSystem } from '../handle.ts';
import { risingMove } from '../policy/rising-version.ts';

/** Sets a budget that a plan or a workspace owns, under the version that its source gives it. */
export const putCeilingRoute = (kernel: Context) =>
  handleSystem(putCeiling)(async ({ params, body: { version, ...terms }, caller }) => {
    const { budget } = await changeBudget(kernel, {
      tenant: params.tenant,
      id: params.budget_id,
      terms,
      by: caller.principal,
      versionAfter: (standing, wanted) => versionAfter(standing, version, wanted),
      carryOn: countedIn,
    });
    return budgetView(budget, kernel.clock().getTime());
  });

function versionAfter(standing: StoredBudget | null, version: number, terms: BudgetTerms): number | null {
  const isSame = () => standing !== null && sameTerms(standing.row, terms);
  return risingMove(standing, { version }, isSame) === 'set' ? version : null;
}
