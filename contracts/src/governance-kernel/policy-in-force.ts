import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { Digest, Instant, TenantId } from '../scalars.ts';
import { PolicyBundle } from './policy-bundle.ts';
import { PolicyCeiling } from './policy-ceilings.ts';

/** The active policy of a tenant. `owner` is the tenant, or `*` for the default bundle of tenants without their own. */
export const PolicyInForce = z.strictObject({
  tenant_id: TenantId,
  owner: z.string(),
  policy_hash: Digest,
  epoch: z.int().min(1),
  confirmed_at: Instant,
  bundle: PolicyBundle,
  /** The epoch of the tenant's next own bundle. */
  next_epoch: z.int().min(1),
  /** The ceilings of the tenant and of `*`. Each bundle of the tenant must contain them unchanged. */
  ceilings: z.array(PolicyCeiling),
});
export type PolicyInForce = z.infer<typeof PolicyInForce>;

export const getPolicyInForce = defineRoute({
  operation: 'get-policy-in-force',
  summary:
    'Get the active bundle of a tenant, its owner, and the ceilings that each bundle of the tenant must contain.',
  method: 'GET',
  path: '/internal/policy/bundles/{tenant}',
  auth: 'service_internal',
  params: z.strictObject({ tenant: TenantId }),
  reply: PolicyInForce,
  errors: ['NOT_FOUND'],
});

export const getPolicyBundle = defineRoute({
  operation: 'get-policy-bundle',
  summary: "Get a bundle of past decisions of a tenant by its hash: the tenant's own or the default one.",
  method: 'GET',
  path: '/internal/policy/bundles/{tenant}/{policy_hash}',
  auth: 'service_internal',
  params: z.strictObject({ tenant: TenantId, policy_hash: Digest }),
  reply: z.strictObject({ policy_hash: Digest, bundle: PolicyBundle }),
  errors: ['NOT_FOUND'],
});
