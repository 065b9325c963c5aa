import type { BudgetId, TenantId } from '@countersign/contracts';
import type { Demand } from '@countersign/policy';
import type { BudgetRow } from './budget-row.ts';
import { columnsOf, instantMs, integer, keys, lockInOrder, nullable, text } from '../ledger/columns.ts';
import type { Control, Placeholder, StoredRow } from '../ledger/control.ts';

/** All budgets of a subject, or the one of an id. */
type BudgetsKey =
  { readonly tenant: TenantId; readonly subject: string } | { readonly tenant: TenantId; readonly id: BudgetId };

const amounts = ['tool_calls', 'spend_minor', 'egress_bytes', 'writes'] as const;
const amount = integer('amount');
const limit = nullable(amount);

const plain = columnsOf<Omit<BudgetRow, 'limits' | 'used' | 'reserved'>>({
  tenant: text('tenant_id'),
  id: text('budget_id'),
  subject: text('subject'),
  window: text('window'),
  approvalRequiredAboveMinor: nullable(integer('approval_required_above_minor')),
  currency: nullable(text('currency')),
  resetsAtMs: nullable(instantMs('resets_at')),
  revision: integer('revision'),
});

const limitColumns = {
  tool_calls: 'tool_call_limit',
  spend_minor: 'spend_limit_minor',
  egress_bytes: 'egress_limit_bytes',
  writes: 'write_limit',
} as const;

const select = (parameter: Placeholder) => {
  const wanted = `${keys(parameter, 3)} AS wanted(tenant_id, subject, budget_id)`;
  return `SELECT r.* FROM ${wanted} JOIN budgets r USING (tenant_id, subject)
    UNION ALL SELECT r.* FROM ${wanted} JOIN budgets r USING (tenant_id, budget_id)`;
};

const idOf = ({ tenant, id }: { tenant: TenantId; id: BudgetId }) => `${tenant}\nid\n${id}`;
const subjectOf = ({ tenant, subject }: { tenant: TenantId; subject: string }) => `${tenant}\nof\n${subject}`;

export const budgets: Control<BudgetsKey, BudgetRow> = {
  name: 'budgets',
  guard: 'row',
  keyColumns: 3,
  select,
  lock: lockInOrder({ table: 'budgets', primaryKey: ['tenant_id', 'budget_id'] }, select),
  rowOf: (stored) => ({
    ...plain.rowOf(stored),
    limits: demandOf((name) => limit.read(stored[limitColumns[name]])),
    used: demandOf((name) => amount.read(stored[`used_${name}`])),
    reserved: demandOf((name) => amount.read(stored[`reserved_${name}`])),
  }),
  stored: (row) => ({ ...plain.stored(row), ...storedAmounts(row, 'used'), ...storedAmounts(row, 'reserved') }),
  committed: (row) => ({ ...row, revision: row.revision + 1 }),
  keyValues: (key) => ('id' in key ? [key.tenant, null, key.id] : [key.tenant, key.subject, null]),
  keyText: (key) => ('id' in key ? idOf(key) : subjectOf(key)),
  idOf,
  setsOf: (row) => [idOf(row), subjectOf(row)],
};

function demandOf<Value>(read: (name: keyof Demand) => Value): Record<keyof Demand, Value> {
  const [tool_calls, spend_minor, egress_bytes, writes] = [
    read('tool_calls'),
    read('spend_minor'),
    read('egress_bytes'),
    read('writes'),
  ];
  return { tool_calls, spend_minor, egress_bytes, writes };
}

function storedAmounts(row: BudgetRow, kind: 'used' | 'reserved'): StoredRow {
  return Object.fromEntries(amounts.map((name) => [`${kind}_${name}`, row[kind][name]]));
}
