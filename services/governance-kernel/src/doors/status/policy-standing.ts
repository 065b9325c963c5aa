import { instantOf } from '@countersign/contracts';
import type { BoundaryStatus } from '@countersign/contracts/governance-kernel';
import type { Policies } from '../../controls/policy/policies.ts';

type CurrentState = BoundaryStatus['policy'];
type Basis = { policies: Pick<Policies, 'reload' | 'stateOf'>; policyAgeMaxMs: number; nowMs: number };

/** The state of the tenant's own bundle, or else of the bundle of all tenants (`*`), read from the database. */
export async function policyStanding(
  { policies, policyAgeMaxMs, nowMs }: Basis,
  tenant: string,
): Promise<CurrentState> {
  await policies.reload(tenant);
  const [owner, { active, isSigned }] =
    policies.stateOf(tenant).active === null ? ['*', policies.stateOf('*')] : [tenant, policies.stateOf(tenant)];
  if (active === null) return missing;
  const { hash, epoch, confirmedAtMs } = active;
  const freshUntilMs = confirmedAtMs + policyAgeMaxMs;
  const fresh = nowMs > freshUntilMs ? 'stale' : 'fresh';
  return {
    state: isSigned ? fresh : 'unsigned',
    owner,
    policy_hash: hash,
    policy_epoch: epoch,
    confirmed_at: instantOf(confirmedAtMs),
    fresh_until: instantOf(freshUntilMs),
  };
}

const missing: CurrentState = {
  state: 'missing',
  owner: null,
  policy_hash: null,
  policy_epoch: null,
  confirmed_at: null,
  fresh_until: null,
};
