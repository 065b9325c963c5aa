import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { DecisionId, Digest, Instant } from '../scalars.ts';
import { bundleBytesMax, bundleValuesMax, PolicyBundle } from './policy-bundle.ts';
import { Signature } from './receipt.ts';

/**
 * The statement that a policy key signs: canonical JSON of these members. `confirmed_at` is the start of the policy's
 * age. It rises with each statement about a tenant, so none counts twice. `confirmed_at` is what the age of a policy is
 * counted from; it rises with each statement about a tenant, so none counts twice.
 */
export const PolicyActivation = z.strictObject({
  type: z.literal('countersign.policy-activation.v2'),
  tenant_id: z.string(),
  policy_hash: Digest,
  epoch: z.int().min(1),
  confirmed_at: Instant,
});

/**
 * The facts of the statement in the record of an activation or a confirmation; its other members are the record's own.
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

/** Tenant `*` is the bundle of every tenant that has none of its own. */
export const PolicyTenant = z.string().regex(/^(\*|[A-Za-z0-9._:-]{1,128})$/);

/** A bundle and the statement that puts it into force. */
export const BundleActivation = z.strictObject({
  bundle: PolicyBundle,
  epoch: z.int().min(1),
  confirmed_at: Instant,
  signature: Signature,
  /**
   * The decision for which it was signed. A tenant whose ceilings say `needs_decision` activates nothing without one.
   */
  decision_id: DecisionId.optional(),
});

/** Room for the members beside the bundle. */
const envelope = { bytes: 4_096, values: 64 };

/** The limits of a body that holds a bundle, equal to those of every other way in. */
export const bundleBody = {
  bodyBytesMax: bundleBytesMax + envelope.bytes,
  bodyValuesMax: bundleValuesMax + envelope.values,
};

export const putPolicyBundle = defineRoute({
  operation: 'put-policy-bundle',
  summary:
    'Activate a signed policy bundle with a strictly rising epoch; the same bundle and epoch, signed with a later time, confirms its freshness.',
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
