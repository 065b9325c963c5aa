import type { BudgetId, Digest, TenantId } from '@countersign/contracts';
import { bool, columnsOf, instantMs, selectByKey, text } from '../ledger/columns.ts';
import type { Control } from '../ledger/control.ts';

type UsageKey = { readonly tenant: TenantId; readonly budget: BudgetId; readonly event: string };

/** A reported use of a budget elsewhere, by the name that its source gave it. */
type ToldUsage = UsageKey & {
  /** The fingerprint of the whole report. */
  readonly fingerprint: Digest;
  readonly counted: boolean;
  readonly recordedAtMs: number;
};

/** An older event is refused, so that none is counted again whose name is forgotten. */
export const usageAgeMaxMs = 35 * 86_400_000;
/** Clocks differ; an event of a later time than this would outlive its name. */
export const usageAheadMsMax = 300_000;
/** An event may be told for as long as it is not too old. */
export const usageKeptMs = usageAgeMaxMs + usageAheadMsMax;

const nameOf = ({ tenant, budget, event }: UsageKey) => [tenant, budget, event].join('\n');

/** Written with what it counts, and read only when the event is known already. */
export const budgetUsage: Control<UsageKey, ToldUsage> = {
  name: 'budget_usage',
  guard: 'key',
  ...selectByKey('budget_usage', ['tenant_id', 'budget_id', 'event_id']),
  ...columnsOf<ToldUsage>({
    tenant: text('tenant_id'),
    budget: text('budget_id'),
    event: text('event_id'),
    fingerprint: text('fingerprint'),
    counted: bool('counted'),
    recordedAtMs: instantMs('recorded_at'),
  }),
  writes: { table: 'budget_usage', primaryKey: ['tenant_id', 'budget_id', 'event_id'], put: { kind: 'insert_once' } },
  keyValues: ({ tenant, budget, event }) => [tenant, budget, event],
  keyText: nameOf,
  idOf: nameOf,
  setsOf: (row) => [nameOf(row)],
};
