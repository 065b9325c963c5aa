import type { TenantId } from '@countersign/contracts';
import type { CachedState } from '../../ledger/cached-state.ts';
import type { LoadedPolicy } from './loaded-policy.ts';
import { activePolicy, isActive } from './policy-heads.ts';

export type PolicySource = {
  /** The bundle in memory for this tenant, or `null`. */
  current(tenant: string): LoadedPolicy | null;
  /** Loads the active bundle from the database. */
  reload(tenant: string): Promise<void>;
};

type Judged = { call: { caller: { tenant: TenantId } }; policy: LoadedPolicy | null };

/** The active bundle. */
export function currentPolicy(policies: PolicySource): CachedState<TenantId, LoadedPolicy | null, Judged> {
  return {
    name: 'The policy',
    current: (tenant) => policies.current(tenant),
    isCurrent: (batch, { call, policy }) => isActive(activePolicy(batch, call.caller.tenant), policy),
    reload: ({ call }) => policies.reload(call.caller.tenant),
  };
}
