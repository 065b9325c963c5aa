import type { TenantId } from '@countersign/contracts';
import type { Reservation } from '../controls/budgets/reservation.ts';
import { columnsOf, instantMs, json, lockInOrder, selectByKey, text, texts } from '../ledger/columns.ts';
import type { Control } from '../ledger/control.ts';

/** A call that the kernel executes itself, from its decision until its outcome is sealed. */
export type Dispatch = {
  /** The ulid of the decision. */
  readonly ulid: string;
  readonly tenant: TenantId;
  /** All tools that the call runs. For a model call, those that its provider may run. */
  readonly tools: readonly string[];
  readonly reservations: readonly Reservation[];
  readonly deadlineAtMs: number;
};

const byKey = selectByKey('dispatches', ['ulid']);

/** The calls that the kernel executes. A dispatch is deleted when it is settled. */
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
  epochTables: [], // only its own key finds a dispatch, so an insert makes no cached set stale
  keyValues: (ulid) => [ulid],
  keyText: (ulid) => ulid,
  idOf: ({ ulid }) => ulid,
  setsOf: ({ ulid }) => [ulid],
};
