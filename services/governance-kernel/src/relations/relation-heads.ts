import type { Digest } from '@countersign/contracts';
import { columnsOf, instantMs, integer, selectByKey, text } from '../ledger/columns.ts';
import type { Control } from '../ledger/control.ts';

/** The snapshot of a tenant's relations, and when its writer last said that it holds. */
export type RelationHead = {
  readonly tenant: string;
  readonly version: number;
  readonly hash: Digest;
  readonly confirmedAtMs: number;
};

/** What decisions see of relations: nobody loads tuples in a batch, a decision says under which snapshot it asked for them. */
export const relationHeads: Control<string, RelationHead> = {
  name: 'relation_heads',
  guard: 'epoch',
  ...selectByKey('relation_heads', ['tenant_id']),
  rowOf: columnsOf<RelationHead>({
    tenant: text('tenant_id'),
    version: integer('version'),
    hash: text('snapshot_hash'),
    confirmedAtMs: instantMs('confirmed_at'),
  }).rowOf,
  keyValues: (tenant) => [tenant],
  keyText: (tenant) => tenant,
  idOf: ({ tenant }) => tenant,
  setsOf: ({ tenant }) => [tenant],
};
