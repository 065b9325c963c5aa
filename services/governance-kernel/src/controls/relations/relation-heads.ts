import type { Digest, PlainJson } from '@countersign/contracts';
import { columnsOf, instantMs, integer, nullable, selectByKey, text } from '../../ledger/columns.ts';
import type { Control } from '../../ledger/control.ts';
import { putRelationHeads } from './put-relation-heads.ts';
import type { SnapshotRow } from './snapshot-view.ts';

/** The snapshot of a tenant's relations, and the time of its writer's last confirmation. */
export type RelationHead = {
  readonly tenant: string;
  readonly version: number;
  readonly hash: Digest;
  readonly confirmedAtMs: number;
  /** The version of the list of members in these relations, counted by the gateway. 0 when none was sent. */
  readonly membersVersion: number;
};

/** The new snapshot with its changes. It is written together with its head, but reads of the head omit it. */
type MadeSnapshot = SnapshotRow & {
  readonly changes: Record<string, PlainJson>;
  /** The text with the hash `modelHash`, when the model changes. */
  readonly model: string | null;
};
type WrittenHead = RelationHead & { readonly made?: MadeSnapshot };

const headColumns = columnsOf<RelationHead>({
  tenant: text('tenant_id'),
  version: integer('version'),
  hash: text('snapshot_hash'),
  confirmedAtMs: instantMs('confirmed_at'),
  membersVersion: integer('members_version'),
});
const madeColumns = columnsOf<Omit<MadeSnapshot, 'version' | 'hash' | 'confirmedAtMs' | 'changes'>>({
  id: text('snapshot_id'),
  previousHash: nullable(text('previous_hash')),
  tupleCount: integer('tuple_count'),
  modelHash: nullable(text('model_hash')),
  createdAtMs: instantMs('created_at'),
  model: nullable(text('model')),
});

/** The current snapshot of each tenant. Batches compare it with the snapshot of a decision's answers. */
export const relationHeads: Control<string, WrittenHead> = {
  name: 'relation_heads',
  guard: 'epoch',
  ...selectByKey('relation_heads', ['tenant_id']),
  rowOf: headColumns.rowOf,
  stored: ({ made, ...head }) => ({
    ...headColumns.stored(head),
    ...(made === undefined ? {} : { ...madeColumns.stored(made), changes: made.changes }),
  }),
  columns: headColumns.columns,
  writes: { table: 'relation_heads', primaryKey: ['tenant_id'], put: { kind: 'body', body: putRelationHeads } },
  committed: ({ made: _, ...head }) => head,
  keyValues: (tenant) => [tenant],
  keyText: (tenant) => tenant,
  idOf: ({ tenant }) => tenant,
  setsOf: ({ tenant }) => [tenant],
};
