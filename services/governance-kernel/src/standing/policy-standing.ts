import type { Instant } from '@countersign/contracts';
import type { BoundaryStatus } from '@countersign/contracts/governance-kernel';
import type { Policies } from '../policy/policies.ts';

type Standing = BoundaryStatus['policy'];
type Known = { policies: Pick<Policies, 'reload' | 'standing'>; policyAgeMaxMs: number; nowMs: number };

/** The tenant's own bundle, else the one of all tenants, as the database holds it now. */
export async function policyStanding({ policies, policyAgeMaxMs, nowMs }: Known, tenant: string): Promise<Standing> {
  await policies.reload(tenant);
  const [owner, { active, isSigned }] =
    policies.standing(tenant).active === null ? ['*', policies.standing('*')] : [tenant, policies.standing(tenant)];
  if (active === null) return missing;
  const { hash, epoch, confirmedAtMs } = active;
  const freshUntilMs = confirmedAtMs + policyAgeMaxMs;
  const fresh = nowMs > freshUntilMs ? 'stale' : 'fresh';
  return {
    state: isSigned ? fresh : 'unsigned',
    owner,
    policy_hash: hash,
    policy_epoch: epoch,
    confirmed_at: instant(confirmedAtMs),
    fresh_until: instant(freshUntilMs),
  };
}

const missing: Standing = {
  state: 'missing',
  owner: null,
  policy_hash: null,
  policy_epoch: null,
  confirmed_at: null,
  fresh_until: null,
};

function instant(ms: number): Instant {
  return new Date(ms).toISOString() as Instant; // toISOString writes exactly this form
}
