import type { Digest } from '@countersign/contracts';
import { columnsOf, instantMs, integer, selectByKey, text } from '../ledger/columns.ts';
import { wanted, type Control, type Wanted } from '../ledger/control.ts';
import type { LoadedPolicy } from './loaded-policy.ts';

/** Which bundle is active for a tenant (or for `*`), and when its source last confirmed it. */
export type PolicyHead = {
  readonly tenant: string;
  readonly epoch: number;
  readonly hash: Digest;
  readonly confirmedAtMs: number;
  /** The bundle itself, only while it is being activated. */
  readonly activation?: { readonly text: string; readonly keyId: string; readonly signature: string };
};

const columns = columnsOf<Omit<PolicyHead, 'activation'>>({
  tenant: text('tenant_id'),
  epoch: integer('epoch'),
  hash: text('policy_hash'),
  confirmedAtMs: instantMs('confirmed_at'),
});

/** Which bundle is active, by the tenant it was activated for. A head that brings its activation adds a bundle to the history. */
export const policyHeads: Control<string, PolicyHead> = {
  name: 'policy_heads',
  guard: 'epoch',
  ...selectByKey('policy_heads', ['tenant_id']),
  rowOf: columns.rowOf,
  stored: ({ activation, ...head }) => ({
    ...columns.stored(head),
    bundle: activation?.text ?? null,
    key_id: activation?.keyId ?? null,
    signature: activation?.signature ?? null,
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

/** Is this bundle, or none, what the tenant is under? */
export function isActive(batch: PolicyReader, tenant: string, policy: LoadedPolicy | null): boolean {
  const head = activePolicy(batch, tenant);
  return (head?.hash ?? null) === (policy?.hash ?? null) && (head?.epoch ?? 0) === (policy?.epoch ?? 0);
}
