import { AppError, type BudgetId, type TenantId } from '@countersign/contracts';
import { isUniqueViolation } from '@countersign/database';
import type { StoredBudget } from '../budgets/budget-view.ts';
import { assertSameMoney, type BudgetTerms } from '../budgets/terms.ts';
import { windowEndMs } from '../budgets/window.ts';
import type { BudgetModel } from '../generated/prisma/models.ts';
import { budgets } from '../budgets/budgets.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import type { Reader, Tx } from './database.ts';
import { asStored } from './stored-row.ts';

type BudgetKey = { tenant: TenantId; id: BudgetId };

export async function findBudget(reader: Reader, { tenant, id }: BudgetKey): Promise<StoredBudget | null> {
  const row = await reader.budget.findUnique({ where: { tenant_id_budget_id: { tenant_id: tenant, budget_id: id } } });
  return row === null ? null : storedBudget(row);
}

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

/** Throws PRECONDITION_REQUIRED when another request created it in this moment. */
export async function createBudget(
  tx: Tx,
  { tenant, id }: BudgetKey,
  { terms, now }: { terms: BudgetTerms; now: Date },
): Promise<StoredBudget> {
  try {
    const data = { tenant_id: tenant, budget_id: id, ...terms, resets_at: windowEnd(terms, now), updated_at: now };
    return storedBudget(await tx.budget.create({ data }));
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new AppError('PRECONDITION_REQUIRED', 'The budget exists; send If-Match with its ETag', {
      param: 'If-Match',
    });
  }
}

/**
 * Replaces the terms of the version that was read; what is used and reserved counts on, and a new window starts with its own end.
 * Throws PRECONDITION_FAILED when it changed meanwhile. Decisions lock the same row, so each sees the old terms or the new.
 */
export async function replaceBudget(
  tx: Tx,
  { row, version }: StoredBudget,
  { terms, now }: { terms: BudgetTerms; now: Date },
): Promise<StoredBudget> {
  assertSameMoney(
    { currency: row.currency, spentMinor: row.used.spend_minor, reservedMinor: row.reserved.spend_minor },
    terms,
  );
  const key = { tenant_id: row.tenant, budget_id: row.id };
  const resets = terms.window === row.window ? {} : { resets_at: windowEnd(terms, now) };
  const [changed] = await tx.budget.updateManyAndReturn({
    where: { ...key, version },
    data: { ...terms, ...resets, version: version + 1, updated_at: now },
  });
  if (changed === undefined)
    throw new AppError('PRECONDITION_FAILED', 'The budget changed since it was read', { param: 'If-Match' });
  return storedBudget(changed);
}

function windowEnd({ window }: BudgetTerms, now: Date): Date | null {
  const end = windowEndMs(window, now.getTime());
  return end === null ? null : new Date(end);
}

function storedBudget(model: BudgetModel): StoredBudget {
  const row = budgets.rowOf(asStored(model));
  return { row, version: model.version, updatedAtMs: model.updated_at.getTime() };
}
