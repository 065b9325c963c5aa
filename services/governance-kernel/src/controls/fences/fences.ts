import type { FenceScope } from '@countersign/contracts/governance-kernel';
import { columnsOf, instantMs, integer, lockInOrder, nullable, selectByKey, text } from '../../ledger/columns.ts';
import type { Control } from '../../ledger/control.ts';
import type { FenceRow } from './fence-row.ts';

const commandColumns = columnsOf<Omit<FenceRow, Counted>>({
  scope: text('scope'),
  kind: text('kind'),
  reason: text('reason'),
  effectiveAtMs: instantMs('effective_at'),
  epoch: integer('epoch'),
  callLimit: nullable(integer('call_limit')),
  windowSeconds: nullable(integer('window_seconds')),
  expiresAtMs: nullable(instantMs('expires_at')),
  setBy: text('set_by'),
});
type Counted = 'callsTaken' | 'windowEndsAtMs' | 'revision';
const countColumns = columnsOf<Pick<FenceRow, Counted | 'scope'>>({
  scope: text('scope'),
  callsTaken: integer('calls_taken'),
  windowEndsAtMs: nullable(instantMs('window_ends_at')),
  revision: integer('revision'),
});

const table = { table: 'fences', primaryKey: ['scope'] } as const;
const byScope = selectByKey('fences', ['scope']);
const named: Pick<Control<FenceScope, FenceRow>, 'rowOf' | 'keyValues' | 'keyText' | 'idOf' | 'setsOf'> = {
  rowOf: (stored) => ({ ...commandColumns.rowOf(stored), ...countColumns.rowOf(stored) }),
  keyValues: (scope) => [scope],
  keyText: (scope) => scope,
  idOf: ({ scope }) => scope,
  setsOf: ({ scope }) => [scope],
};

/**
 * The fence commands of people. All decisions depend on them, so the epoch of the controls guards them. The control
 * `fences` has the counts of throttles.
 */
export const fenceCommands: Control<FenceScope, FenceRow> = {
  name: 'fence_commands',
  guard: 'epoch',
  ...byScope,
  ...named,
  stored: commandColumns.stored,
  columns: commandColumns.columns,
  writes: { ...table, put: { kind: 'upsert' } },
};

/** The fences that decisions read, and the calls that throttles count. */
export const fences: Control<FenceScope, FenceRow> = {
  name: 'fences',
  guard: 'row',
  ...byScope,
  lock: lockInOrder(table, byScope.select),
  ...named,
  stored: countColumns.stored,
  columns: countColumns.columns,
  writes: { ...table, put: { kind: 'update' } },
  committed: (row) => ({ ...row, revision: row.revision + 1 }),
};
