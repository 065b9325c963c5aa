import type { BudgetId, TenantId } from '@countersign/contracts';
import { columnsOf, instantMs, integer, keys } from '../../ledger/columns.ts';
import type { Control } from '../../ledger/control.ts';
import type { StoredBudget } from './budget-row.ts';
import { budgetLimitColumns, budgets, budgetTermsColumns, moneyAsText } from './budgets.ts';

type BudgetKey = { readonly tenant: TenantId; readonly id: BudgetId };

const versionColumns = columnsOf<Omit<StoredBudget, 'row'>>({
  version: integer('version'),
  updatedAtMs: instantMs('updated_at'),
});

/**
 * The terms of a budget that people set. All decisions depend on them, so the epoch guards them. The control `budgets`
 * contains the amounts that decisions change.
 */
export const budgetTerms: Control<BudgetKey, StoredBudget> = {
  name: 'budget_terms',
  guard: 'epoch',
  keyColumns: 2,
  select: (parameter) =>
    `SELECT r.*, ${moneyAsText} FROM ${keys(parameter, 2)} AS wanted(tenant_id, budget_id)
      JOIN budgets r USING (tenant_id, budget_id)`,
  rowOf: (stored) => ({ row: budgets.rowOf(stored), ...versionColumns.rowOf(stored) }),
  stored: ({ row, ...versioned }) => ({
    ...budgetTermsColumns.stored(row),
    ...budgetLimitColumns.stored(row.limits),
    ...versionColumns.stored(versioned),
  }),
  columns: [...budgetTermsColumns.columns, ...budgetLimitColumns.columns, ...versionColumns.columns],
  writes: { table: 'budgets', primaryKey: ['tenant_id', 'budget_id'], put: { kind: 'upsert' } },
  keyValues: ({ tenant, id }) => [tenant, id],
  keyText: ({ tenant, id }) => `${tenant}\n${id}`,
  idOf: ({ row: { tenant, id } }) => `${tenant}\n${id}`,
  setsOf: ({ row: { tenant, id } }) => [`${tenant}\n${id}`],
};
