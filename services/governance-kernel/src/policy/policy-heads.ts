import type { Digest } from '@countersign/contracts';
import { columnsOf, instantMs, integer, selectByKey, text } from '../ledger/columns.ts';
import { wanted, type Control, type Wanted } from '../ledger/control.ts';
import type { LoadedPolicy } from './loaded-policy.ts';

/** Which bundle is active for a tenant (or for `*`), and when its source last said so, as a policy key signed it. */
export type PolicyHead = {
  readonly tenant: string;
  readonly epoch: number;
  readonly hash: Digest;
  readonly confirmedAtMs: number;
  readonly keyId: string;
  readonly signature: string;
};

/** Which bundle is active, by the tenant it was activated for. */
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
  keyValues: (tenant) => [tenant],
  keyText: (tenant) => tenant,
  idOf: ({ tenant }) => tenant,
  setsOf: ({ tenant }) => [tenant],
};

type PolicyReader = { row(control: typeof policyHeads, tenant: string): PolicyHead | null };

/** The tenant's own bundle, else the one of every tenant (`*`). */
export function activePolicy(batch: PolicyReader, tenant: string): PolicyHead | null {
  return batch.row(policyHeads, tenant) ?? batch.row(policyHeads, '*');
}

export function wantedPolicies(tenant: string): Wanted[] {
  return [wanted(policyHeads, tenant), wanted(policyHeads, '*')];
}

/** Is this bundle, or none, the one that the head names? */
export function isActive(head: PolicyHead | null, policy: LoadedPolicy | null): boolean {
  return (head?.hash ?? null) === (policy?.hash ?? null) && (head?.epoch ?? 0) === (policy?.epoch ?? 0);
}
