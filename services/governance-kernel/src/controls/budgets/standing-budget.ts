import type { BudgetId, TenantId } from '@countersign/contracts';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { wanted, type Wanted } from '../../ledger/control.ts';
import type { StoredBudget } from './budget-row.ts';
import { budgetTerms } from './budget-terms.ts';
import { budgets } from './budgets.ts';
import { inWindow } from './window.ts';

type BudgetKey = { readonly tenant: TenantId; readonly id: BudgetId };

/** The sets that `standingBudget` reads. */
export function wantedBudget({ tenant, id }: BudgetKey): Wanted[] {
  return [wanted(budgetTerms, { tenant, id }), wanted(budgets, { tenant, id })];
}

/** The budget in the current window, including usage by earlier entries of the batch. */
export function standingBudget(batch: LedgerBatch, { tenant, id }: BudgetKey, nowMs: number): StoredBudget | null {
  const stored = batch.row(budgetTerms, { tenant, id });
  const row = batch.row(budgets, { tenant, id });
  return stored === null || row === null ? null : { ...stored, row: inWindow(row, nowMs) };
}
