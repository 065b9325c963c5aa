import type { TenantId } from '@countersign/contracts';
import type { Reservation } from '../budgets/reservation.ts';
import { columnsOf, instantMs, json, lockInOrder, selectByKey, text, texts } from '../ledger/columns.ts';
import type { Control } from '../ledger/control.ts';

/** A call that the kernel executes itself: here from its decision until its outcome is sealed. */
export type Dispatch = {
  /** The ulid of the decision. */
  readonly ulid: string;
  readonly tenant: TenantId;
  /** All that the call runs: of a model call, what it lets its provider run. */
  readonly tools: readonly string[];
  readonly reservations: readonly Reservation[];
  readonly deadlineAtMs: number;
};

const byKey = selectByKey('dispatches', ['ulid']);

/** A settled one leaves. */
export const dispatches: Control<string, Dispatch> = {
  name: 'dispatches',
  guard: 'row',
  ...byKey,
  lock: lockInOrder({ table: 'dispatches', primaryKey: ['ulid'] }, byKey.select),
  ...columnsOf<Dispatch>({
    ulid: text('ulid'),
    tenant: text('tenant_id'),
    tools: texts('tools'),
    reservations: json('reservations'),
    deadlineAtMs: instantMs('deadline_at'),
  }),
  writes: {
    table: 'dispatches',
    primaryKey: ['ulid'],
    put: { kind: 'insert' },
    drops: true,
    defaults: { tools: "'{}'" },
  },
  epochTables: [], // a dispatch is found by its own key alone, so no remembered set can miss it
  keyValues: (ulid) => [ulid],
  keyText: (ulid) => ulid,
  idOf: ({ ulid }) => ulid,
  setsOf: ({ ulid }) => [ulid],
};
