import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { Digest, Instant, TenantId } from '../scalars.ts';
import { PolicyBundle } from './policy-bundle.ts';
import { PolicyCeiling } from './policy-ceilings.ts';

/**
 * The policy by which a tenant's calls are decided. `owner`: the tenant itself, or `*` whose bundle is that of every
 * tenant without one.
 */
export const PolicyInForce = z.strictObject({
  tenant_id: TenantId,
  owner: z.string(),
  policy_hash: Digest,
  epoch: z.int().min(1),
  confirmed_at: Instant,
  bundle: PolicyBundle,
  /** The epoch of the tenant's own next bundle. */
  next_epoch: z.int().min(1),
  /** Its own and those of every tenant: each bundle of the tenant holds them word for word. */
  ceilings: z.array(PolicyCeiling),
});
export type PolicyInForce = z.infer<typeof PolicyInForce>;

export const getPolicyInForce = defineRoute({
  operation: 'get-policy-in-force',
  summary:
    'The bundle that a tenant is decided by, whose it is, and the ceilings that every bundle of the tenant holds.',
  method: 'GET',
  path: '/internal/policy/bundles/{tenant}',
  auth: 'service_internal',
  params: z.strictObject({ tenant: TenantId }),
  reply: PolicyInForce,
  errors: ['NOT_FOUND'],
});

export const getPolicyBundle = defineRoute({
  operation: 'get-policy-bundle',
  summary:
    'A bundle that decisions of a tenant were made under, by its hash: one that was its own once, or that of every tenant.',
  method: 'GET',
  path: '/internal/policy/bundles/{tenant}/{policy_hash}',
  auth: 'service_internal',
  params: z.strictObject({ tenant: TenantId, policy_hash: Digest }),
  reply: z.strictObject({ policy_hash: Digest, bundle: PolicyBundle }),
  errors: ['NOT_FOUND'],
});
