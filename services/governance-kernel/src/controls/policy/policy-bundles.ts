import type { Digest } from '@countersign/contracts';
import { columnsOf, instantMs, integer, keys, text } from '../../ledger/columns.ts';
import type { Control } from '../../ledger/control.ts';

type BundleKey = { readonly tenant: string; readonly epoch: number };

/** A bundle as it was activated, with the statement that was signed for it. */
type ActivatedBundle = BundleKey & {
  readonly hash: Digest;
  readonly bundle: string;
  readonly keyId: string;
  readonly signature: string;
  readonly activatedAtMs: number;
};

const nameOf = ({ tenant, epoch }: BundleKey) => `${tenant}\n${epoch}`; // tenants contain no line feed

/**
 * Every bundle that was ever activated. If a batch activates several bundles of a tenant, each bundle is stored, but
 * only the last head. Decisions do not read this table: bundles are large, and their compiled forms are in memory.
 */
export const policyBundles: Control<BundleKey, ActivatedBundle> = {
  name: 'policy_bundles',
  guard: 'key',
  keyColumns: 2,
  select: (parameter) =>
    `SELECT r.* FROM ${keys(parameter, 2)} AS wanted(tenant_id, epoch)
       JOIN policy_bundles r ON r.tenant_id = wanted.tenant_id AND r.epoch = wanted.epoch::int`,
  ...columnsOf<ActivatedBundle>({
    tenant: text('tenant_id'),
    epoch: integer('epoch'),
    hash: text('policy_hash'),
    bundle: text('bundle'),
    keyId: text('key_id'),
    signature: text('signature'),
    activatedAtMs: instantMs('activated_at'),
  }),
  writes: { table: 'policy_bundles', primaryKey: ['tenant_id', 'epoch'], put: { kind: 'insert_once' } },
  keyValues: ({ tenant, epoch }) => [tenant, String(epoch)],
  keyText: nameOf,
  idOf: nameOf,
  setsOf: (row) => [nameOf(row)],
};
