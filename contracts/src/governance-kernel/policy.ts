import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { DecisionId, Digest, Instant } from '../scalars.ts';
import { bundleBytesMax, bundleValuesMax, PolicyBundle } from './policy-bundle.ts';
import { Signature } from './receipt.ts';

/**
 * The statement that a policy key signs, as canonical JSON of these members. The age of a policy is computed from
 * `confirmed_at`, which rises with each statement about a tenant, so no statement counts twice.
 */
export const PolicyActivation = z.strictObject({
  type: z.literal('countersign.policy-activation.v2'),
  tenant_id: z.string(),
  policy_hash: Digest,
  epoch: z.int().min(1),
  confirmed_at: Instant,
});

/**
 * The facts in the record of an activation or a confirmation. The other members of the signed statement are members of
 * the record itself.
 */
export const PolicyStatementFacts = z.strictObject({ confirmed_at: Instant, signature: Signature });

export const ActivePolicy = z.strictObject({
  tenant_id: z.string(),
  name: z.string(),
  version: z.string(),
  policy_hash: Digest,
  epoch: z.int().min(1),
  activated_at: Instant,
  confirmed_at: Instant,
});

/** Tenant `*` has the default bundle, which applies to tenants without a bundle of their own. */
export const PolicyTenant = z.string().regex(/^(\*|[A-Za-z0-9._:-]{1,128})$/);

/** A bundle and the statement that activates it. */
export const BundleActivation = z.strictObject({
  bundle: PolicyBundle,
  epoch: z.int().min(1),
  confirmed_at: Instant,
  signature: Signature,
  /** The decision for which the statement was signed. Required if the tenant's ceilings set `needs_decision`. */
  decision_id: DecisionId.optional(),
});

/** The size of the other members of a body, which is added to the limits of its bundle. */
const envelope = { bytes: 4_096, values: 64 };

/** The limits of a body with a bundle, equal on all routes. */
export const bundleBody = {
  bodyBytesMax: bundleBytesMax + envelope.bytes,
  bodyValuesMax: bundleValuesMax + envelope.values,
};

export const putPolicyBundle = defineRoute({
  operation: 'put-policy-bundle',
  summary:
    'Activate a signed policy bundle with a higher epoch. Sending the same bundle and epoch with a later ' +
    '`confirmed_at` renews its freshness.',
  method: 'PUT',
  path: '/internal/policy/bundles/{tenant}',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({ tenant: PolicyTenant }),
  body: BundleActivation,
  ...bundleBody,
  reply: ActivePolicy,
  errors: ['INVALID_REQUEST', 'CEILING_MISSING', 'PERMISSION_DENIED', 'DECISION_REQUIRED', 'ILLEGAL_TRANSITION'],
});
