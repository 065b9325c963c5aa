import { AppError } from '@countersign/contracts';
import { putBudget } from '@countersign/contracts/governance-kernel';
import { answer, etag, ifMatchTags, requireMatch } from '@countersign/service-kit';
import type { StoredBudget } from '../budgets/budget-row.ts';
import { budgetView } from '../budgets/budget-view.ts';
import { changeBudget } from '../budgets/change-budget.ts';
import { assertSameMoney, countedIn } from '../budgets/terms.ts';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';

/** Creates a budget, or replaces the version that the caller has read. */
export const putBudgetRoute = (kernel: Context) =>
  handleTenant(putBudget)(async ({ params, body: terms, caller, req }) => {
    const tags = ifMatchTags(req);
    const { budget, isNew } = await changeBudget(kernel, {
      tenant: caller.tenant,
      id: params.budget_id,
      terms,
      by: caller.principal,
      versionAfter: (standing) => versionAfter(standing, tags),
      carryOn: (row, wanted) => {
        // Amounts from before a change of the prices' currency are no amounts of the new one, and the budget would deny
        // for good.
        if (wanted.currency !== null && wanted.currency === kernel.config.priceCurrency) return countedIn(row, wanted);
        assertSameMoney(row.used.spend_micros + row.reserved.spend_micros, row, wanted);
        return row;
      },
    });
    const nowMs = kernel.clock().getTime();
    return answer(isNew ? 201 : 200, budgetView(budget, nowMs), etag(String(budget.version)));
  });

function versionAfter(standing: StoredBudget | null, tags: ReturnType<typeof ifMatchTags>): number {
  if (standing !== null) {
    requireMatch(tags, String(standing.version));
    return standing.version + 1;
  }
  if (tags === null) return 1;
  throw new AppError('PRECONDITION_FAILED', 'There is no such budget to replace', { param: 'If-Match' });
}
