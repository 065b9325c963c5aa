import type { Digest } from '@countersign/contracts';
import { columnsOf, instantMs, integer, selectByKey, text } from '../../ledger/columns.ts';
import { wanted, type Control, type Wanted } from '../../ledger/control.ts';
import type { LoadedPolicy } from './loaded-policy.ts';

/** The active bundle of a tenant (or of `*`), and the time of its last signed confirmation. */
export type PolicyHead = {
  readonly tenant: string;
  readonly epoch: number;
  readonly hash: Digest;
  readonly confirmedAtMs: number;
  readonly keyId: string;
  readonly signature: string;
};

/** A kernel that predates the control `policy_bundles` sends the bundle as a member of its head. */
const putPolicyHeads = `BEGIN
  INSERT INTO policy_bundles (tenant_id, epoch, policy_hash, bundle, key_id, signature, activated_at)
  SELECT p.tenant_id, p.epoch, p.policy_hash, p.bundle, p.key_id, p.signature, p.confirmed_at
    FROM jsonb_to_recordset(puts) AS p(tenant_id text, epoch int, policy_hash text, bundle text, key_id text, signature text, confirmed_at timestamptz)
   WHERE p.bundle IS NOT NULL;
  INSERT INTO policy_heads SELECT * FROM jsonb_populate_recordset(NULL::policy_heads, puts) AS p
  ON CONFLICT (tenant_id) DO UPDATE SET epoch = excluded.epoch, policy_hash = excluded.policy_hash,
    confirmed_at = excluded.confirmed_at, key_id = excluded.key_id, signature = excluded.signature;
END `;

/** The active bundles, by the tenant they were activated for. */
export const policyHeads: Control<string, PolicyHead> = {
  name: 'policy_heads',
  guard: 'epoch',
  ...selectByKey('policy_heads', ['tenant_id']),
  ...columnsOf<PolicyHead>({
    tenant: text('tenant_id'),
    epoch: integer('epoch'),
    hash: text('policy_hash'),
    confirmedAtMs: instantMs('confirmed_at'),
    keyId: text('key_id'),
    signature: text('signature'),
  }),
  writes: { table: 'policy_heads', primaryKey: ['tenant_id'], put: { kind: 'body', body: putPolicyHeads } },
  keyValues: (tenant) => [tenant],
  keyText: (tenant) => tenant,
  idOf: ({ tenant }) => tenant,
  setsOf: ({ tenant }) => [tenant],
};

type PolicyReader = { row(control: typeof policyHeads, tenant: string): PolicyHead | null };

/** The head of the tenant's own bundle, or else of the bundle of all tenants (`*`). */
export function activePolicy(batch: PolicyReader, tenant: string): PolicyHead | null {
  return batch.row(policyHeads, tenant) ?? batch.row(policyHeads, '*');
}

export function wantedPolicies(tenant: string): Wanted[] {
  return [wanted(policyHeads, tenant), wanted(policyHeads, '*')];
}

/** Whether the head is that of this bundle. Also `true` when both are `null`. */
export function isActive(head: PolicyHead | null, policy: LoadedPolicy | null): boolean {
  return (head?.hash ?? null) === (policy?.hash ?? null) && (head?.epoch ?? 0) === (policy?.epoch ?? 0);
}
