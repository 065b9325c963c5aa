import { AppError } from '@countersign/contracts';
import { putBudget } from '@countersign/contracts/governance-kernel';
import { answer, etag, ifMatchTags, requireMatch } from '@countersign/service-kit';
import type { StoredBudget } from '../../controls/budgets/budget-row.ts';
import { budgetView } from '../../controls/budgets/budget-view.ts';
import { changeBudget } from '../../controls/budgets/change-budget.ts';
import { assertSameMoney, countedIn } from '../../controls/budgets/terms.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';

/** Creates a budget, or replaces the version that the caller has read. */
export const putBudgetRoute = (kernel: Context) =>
  handleTenant(putBudget)(async ({ params, body: terms, caller, req }) => {
    const tags = ifMatchTags(req);
    const { budget, isNew } = await changeBudget(kernel, {
      tenant: caller.tenant,
      id: params.budget_id,
      terms,
      by: caller.principal,
      versionAfter: (current) => versionAfter(current, tags),
      carryOn: (row, wanted) => {
        // If the currency of the prices was changed, the stored spend is in the old currency. The spend then restarts
        // from zero, since the budget would otherwise deny permanently.
        if (wanted.currency !== null && wanted.currency === kernel.config.priceCurrency) return countedIn(row, wanted);
        assertSameMoney(row.used.spend_micros + row.reserved.spend_micros, row, wanted);
        return row;
      },
    });
    const nowMs = kernel.clock().getTime();
    return answer(isNew ? 201 : 200, budgetView(budget, nowMs), etag(String(budget.version)));
  });

function versionAfter(current: StoredBudget | null, tags: ReturnType<typeof ifMatchTags>): number {
  if (current !== null) {
    requireMatch(tags, String(current.version));
    return current.version + 1;
  }
  if (tags === null) return 1;
  throw new AppError('PRECONDITION_FAILED', 'The budget to replace does not exist. Send the request without If-Match', {
    param: 'If-Match',
  });
}
