import type { Digest, PrincipalId, TenantId } from '@countersign/contracts';
import type { LaneName } from '@countersign/contracts/governance-kernel';
import { columnsOf, json, keys, text } from '../../ledger/columns.ts';
import type { Control } from '../../ledger/control.ts';

export type LaneRow = {
  readonly lane: LaneName;
  readonly hash: Digest;
  readonly setBy: PrincipalId;
  readonly sinceMs: number;
};

/** The lanes of a tenant, by name. */
export type LanesRow = {
  readonly tenant: TenantId;
  readonly lanes: readonly LaneRow[];
  /** The drafts that change, by lane. `null` removes the draft of a lane. */
  readonly drafts?: Readonly<Record<string, string | null>>;
};

const columns = columnsOf<Omit<LanesRow, 'drafts'>>({ tenant: text('tenant_id'), lanes: json('lanes') });

/**
 * The lanes whose drafts are evaluated beside the active policy. The drafts themselves are read separately, since they
 * are large and change rarely.
 */
export const shadowLanes: Control<TenantId, LanesRow> = {
  name: 'shadow_lanes',
  guard: 'epoch',
  keyColumns: 1,
  select: (parameter) =>
    `SELECT r.tenant_id, r.lanes FROM ${keys(parameter, 1)} AS wanted(tenant_id) JOIN shadow_lanes r USING (tenant_id)`,
  rowOf: columns.rowOf,
  stored: ({ drafts, ...row }) => ({ ...columns.stored(row), drafts: drafts ?? {} }),
  columns: [...columns.columns, 'drafts'],
  writes: {
    table: 'shadow_lanes',
    primaryKey: ['tenant_id'],
    put: { kind: 'upsert', merged: { drafts: 'jsonb_strip_nulls(t.drafts || excluded.drafts)' } },
  },
  committed: ({ drafts: _, ...row }) => row,
  keyValues: (tenant) => [tenant],
  keyText: (tenant) => tenant,
  idOf: ({ tenant }) => tenant,
  setsOf: ({ tenant }) => [tenant],
};
