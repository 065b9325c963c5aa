import type { TenantId } from '@countersign/contracts';
import type { StoredBudget } from '../budgets/budget-row.ts';
import { budgetTerms } from '../budgets/budget-terms.ts';
import type { BudgetModel } from '../generated/prisma/models.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import type { Reader } from './database.ts';
import { asStored } from './stored-row.ts';

/** By name, which stays. */
export async function listBudgets<Item>(
  reader: Reader,
  tenant: TenantId,
  { page, item }: { page: PageRequest; item: (budget: StoredBudget) => Item },
): Promise<Page<Item>> {
  const after = pageStart(page, /^[A-Za-z0-9._:-]{1,128}$/);
  const rows = await reader.budget.findMany({
    where: { tenant_id: tenant, ...(after === null ? {} : { budget_id: { gt: after } }) },
    orderBy: { budget_id: 'asc' },
    take: page.limit + 1,
  });
  return pageOf(rows, page.limit, { item: (row) => item(storedBudget(row)), key: (row) => row.budget_id });
}

function storedBudget(model: BudgetModel): StoredBudget {
  return budgetTerms.rowOf({
    ...asStored(model),
    used_spend_micros_text: String(model.used_spend_micros),
    reserved_spend_micros_text: String(model.reserved_spend_micros),
  });
}
