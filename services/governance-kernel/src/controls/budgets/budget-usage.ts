import type { BudgetId, Digest, TenantId } from '@countersign/contracts';
import { bool, columnsOf, instantMs, selectByKey, text } from '../../ledger/columns.ts';
import type { Control } from '../../ledger/control.ts';

type UsageKey = { readonly tenant: TenantId; readonly budget: BudgetId; readonly event: string };

/** An external use of a budget that its source reported under an event ID. */
type ToldUsage = UsageKey & {
  /** The hash of the whole report. */
  readonly fingerprint: Digest;
  readonly counted: boolean;
  readonly recordedAtMs: number;
};

/** Older events are refused. Their IDs may have been deleted, so a repeated event would be counted again. */
export const usageAgeMaxMs = 35 * 86_400_000;
/**
 * How far in the future an event may be dated, since clocks differ. An event further ahead would still be accepted
 * after its ID was deleted.
 */
export const usageAheadMsMax = 300_000;
/** The time for which event IDs are stored. It covers every event that is accepted. */
export const usageKeptMs = usageAgeMaxMs + usageAheadMsMax;

const nameOf = ({ tenant, budget, event }: UsageKey) => [tenant, budget, event].join('\n');

/**
 * The reported events. Each is written together with the usage that it counts, and read only when its ID is already
 * stored.
 */
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
