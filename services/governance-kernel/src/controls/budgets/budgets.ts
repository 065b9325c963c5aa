import type { BudgetId, TenantId } from '@countersign/contracts';
import type { BudgetAmounts, BudgetRow } from './budget-row.ts';
import { columnsOf, instantMs, integer, keys, lockInOrder, micros, nullable, text } from '../../ledger/columns.ts';
import type { Control, Placeholder } from '../../ledger/control.ts';

/** All budgets of a subject, or the budget with an ID. */
type BudgetsKey =
  { readonly tenant: TenantId; readonly subject: string } | { readonly tenant: TenantId; readonly id: BudgetId };

/** The columns that a change of terms writes. Decisions write the amounts, and also `resets_at`. */
export const budgetTermsColumns = columnsOf<
  Pick<BudgetRow, 'tenant' | 'id' | 'subject' | 'window' | 'approvalRequiredAboveMinor' | 'currency' | 'resetsAtMs'>
>({
  tenant: text('tenant_id'),
  id: text('budget_id'),
  subject: text('subject'),
  window: text('window'),
  approvalRequiredAboveMinor: nullable(integer('approval_required_above_minor')),
  currency: nullable(text('currency')),
  resetsAtMs: nullable(instantMs('resets_at')),
});
const revisionColumn = columnsOf<Pick<BudgetRow, 'revision'>>({ revision: integer('revision') });

const limit = (name: string) => nullable(integer(name));
export const budgetLimitColumns = columnsOf<BudgetRow['limits']>({
  tool_calls: limit('tool_call_limit'),
  spend_minor: limit('spend_limit_minor'),
  egress_bytes: limit('egress_limit_bytes'),
  writes: limit('write_limit'),
});
const amountColumns = (kind: 'used' | 'reserved') =>
  columnsOf<BudgetAmounts>({
    tool_calls: integer(`${kind}_tool_calls`),
    spend_micros: micros(`${kind}_spend_micros`),
    egress_bytes: integer(`${kind}_egress_bytes`),
    writes: integer(`${kind}_writes`),
  });
const usedColumns = amountColumns('used');
const reservedColumns = amountColumns('reserved');

/** Money as text, since a JSON number would be rounded. */
export const moneyAsText =
  'r.used_spend_micros::text AS used_spend_micros_text, r.reserved_spend_micros::text AS reserved_spend_micros_text';

const table = { table: 'budgets', primaryKey: ['tenant_id', 'budget_id'] } as const;
const select = (parameter: Placeholder) => {
  const wanted = `${keys(parameter, 3)} AS wanted(tenant_id, subject, budget_id)`;
  return `SELECT r.*, ${moneyAsText} FROM ${wanted} JOIN budgets r USING (tenant_id, subject)
    UNION ALL SELECT r.*, ${moneyAsText} FROM ${wanted} JOIN budgets r USING (tenant_id, budget_id)`;
};

const idOf = ({ tenant, id }: { tenant: TenantId; id: BudgetId }) => `${tenant}\nid\n${id}`;
const subjectOf = ({ tenant, subject }: { tenant: TenantId; subject: string }) => `${tenant}\nof\n${subject}`;

export const budgets: Control<BudgetsKey, BudgetRow> = {
  name: 'budgets',
  guard: 'row',
  comparesReads: true,
  keyColumns: 3,
  select,
  lock: lockInOrder(table, select),
  rowOf: (stored) => ({
    ...budgetTermsColumns.rowOf(stored),
    ...revisionColumn.rowOf(stored),
    limits: budgetLimitColumns.rowOf(stored),
    used: usedColumns.rowOf(stored),
    reserved: reservedColumns.rowOf(stored),
  }),
  stored: (row) => ({
    ...budgetTermsColumns.stored(row),
    ...revisionColumn.stored(row),
    ...usedColumns.stored(row.used),
    ...reservedColumns.stored(row.reserved),
  }),
  columns: [
    ...table.primaryKey,
    ...usedColumns.columns,
    ...reservedColumns.columns,
    'resets_at',
    ...revisionColumn.columns,
  ],
  writes: { ...table, put: { kind: 'update' } },
  committed: (row) => ({ ...row, revision: row.revision + 1 }),
  keyValues: (key) => ('id' in key ? [key.tenant, null, key.id] : [key.tenant, key.subject, null]),
  keyText: (key) => ('id' in key ? idOf(key) : subjectOf(key)),
  idOf,
  setsOf: (row) => [idOf(row), subjectOf(row)],
};
