import { AppError } from '@countersign/contracts';
import { putBudget } from '@countersign/contracts/governance-kernel';
import { answer } from '@countersign/service-kit';
import { budgetView } from '../budgets/budget-view.ts';
import { assertTerms } from '../budgets/terms.ts';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';
import { etag, ifMatchTags, requireMatch } from '../if-match.ts';
import { createBudget, findBudget, replaceBudget } from '../store/budget-store.ts';

/** Creates a budget, or replaces the version that the caller has read. */
export const putBudgetRoute = ({ transaction, clock }: Context) =>
  handleTenant(putBudget)(async ({ params, body: terms, caller, req }) => {
    assertTerms(terms);
    const key = { tenant: caller.tenant, id: params.budget_id };
    const tags = ifMatchTags(req);
    const now = clock();
    return await transaction(async (tx) => {
      const existing = await findBudget(tx, key);
      if (existing === null && tags !== null)
        throw new AppError('PRECONDITION_FAILED', 'There is no such budget to replace', { param: 'If-Match' });
      if (existing !== null) requireMatch(tags, String(existing.version));
      const budget =
        existing === null
          ? await createBudget(tx, key, { terms, now })
          : await replaceBudget(tx, existing, { terms, now });
      return answer(existing === null ? 201 : 200, budgetView(budget, now.getTime()), etag(String(budget.version)));
    });
  });
