import type { BudgetId, TenantId } from '@countersign/contracts';
import type { CallInFlight } from '@countersign/contracts/governance-kernel';
import type { Dispatch } from '../decision/dispatches.ts';
import type { StoredBudget } from '../controls/budgets/budget-row.ts';
import { budgetTerms } from '../controls/budgets/budget-terms.ts';
import { usageKeptMs } from '../controls/budgets/budget-usage.ts';
import { shownAmounts } from '../controls/budgets/budget-view.ts';
import { heldBy } from '../controls/budgets/reservation.ts';
import type { BudgetModel } from '../generated/prisma/models.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import type { Reader, Tx } from './database.ts';
import { callInFlight, listOpenDispatches, openCallsOf } from './open-calls.ts';
import { asStored } from './stored-row.ts';

/** Lists the budgets of a tenant by name, which never changes. */
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

type BudgetKey = { tenant: TenantId; id: BudgetId };

export async function findBudget(reader: Reader, { tenant, id }: BudgetKey): Promise<StoredBudget | null> {
  const where = { tenant_id_budget_id: { tenant_id: tenant, budget_id: id } };
  const row = await reader.budget.findUnique({ where });
  return row === null ? null : storedBudget(row);
}

type Holding = CallInFlight & { holds: ReturnType<typeof shownAmounts> };

/** Calls with a reservation in the budget, oldest first. */
export async function listCallsHolding(
  reader: Reader,
  { tenant, id }: BudgetKey,
  limit: number,
): Promise<{ calls: Holding[]; /** Whether there may be more. */ mayBeMore: boolean }> {
  const { open, areAll } = await listOpenDispatches(reader, [tenant]);
  const reservationIn = ({ reservations }: Dispatch) => reservations.find(({ budget_id }) => budget_id === id);
  const holding = open.filter((dispatch) => reservationIn(dispatch) !== undefined);
  const shown = await openCallsOf(reader, holding.slice(0, limit));
  const calls = shown.flatMap((call) => {
    const reservation = reservationIn(call.dispatch);
    return reservation === undefined ? [] : [{ ...callInFlight(call), holds: shownAmounts(heldBy(reservation)) }];
  });
  return { calls, mayBeMore: holding.length > limit || !areAll };
}

/** Removes the names of events that are too old to be repeated. */
export async function forgetUsage(tx: Tx, now: Date): Promise<void> {
  const where = { recorded_at: { lt: new Date(now.getTime() - usageKeptMs) } };
  await tx.budgetUsage.deleteMany({ where });
}

function storedBudget(model: BudgetModel): StoredBudget {
  return budgetTerms.rowOf({
    ...asStored(model),
    used_spend_micros_text: String(model.used_spend_micros),
    reserved_spend_micros_text: String(model.reserved_spend_micros),
  });
}
