import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ControlVersion, Instant, PrincipalId } from '../scalars.ts';
import { PolicyRule, RuleId } from './policy-bundle.ts';
import { BundleActivation, bundleBody, PolicyTenant } from './policy.ts';

/** More than that is a policy, and belongs into one. */
const ceilingsMax = 100;

/** A rule that a bundle must hold as it is. It takes away and never gives: it denies, or asks a person. */
export const PolicyCeiling = PolicyRule.extend({
  id: RuleId.regex(/^ceiling\./, 'must begin with ceiling.'),
  effect: z.enum(['deny', 'escalate']),
});

const CeilingRules = z
  .array(PolicyCeiling)
  .max(ceilingsMax)
  .refine((rules) => new Set(rules.map(({ id }) => id)).size === rules.length, 'may name each rule once');

export const PolicyCeilings = z.strictObject({
  tenant_id: z.string(),
  version: ControlVersion,
  rules: CeilingRules,
  needs_decision: z.boolean(),
  set_by: PrincipalId,
  updated_at: Instant,
});

export const putPolicyCeilings = defineRoute({
  operation: 'put-policy-ceilings',
  summary:
    'Set all ceilings of a tenant, sealed: rules that every bundle of the tenant holds word for word, and no other rule `ceiling.*`. ' +
    'Those of `*` hold for every tenant beside its own. From this commit on, a tenant whose active bundle lacks one is denied with ' +
    'CEILING_MISSING; `activation` puts a bundle that holds them into force in the same commit. With `needs_decision` a bundle is ' +
    'activated only by a statement that was signed for an allowed decision on it. The version only rises, the same one ' +
    'again confirms; what stands is replaced under If-Match alone.',
  method: 'PUT',
  path: '/internal/policy/ceilings/{tenant}',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({ tenant: PolicyTenant }),
  body: z.strictObject({
    version: ControlVersion,
    rules: CeilingRules,
    /** For a tenant with a bundle of its own: every new bundle needs an ALLOW of `policy.change` from now on. */
    needs_decision: z.boolean().default(false),
    /** Who set them, as the caller knows. */
    set_by: PrincipalId,
    activation: BundleActivation.optional(),
  }),
  ...bundleBody,
  reply: PolicyCeilings,
  errors: [
    'INVALID_REQUEST',
    'CEILING_MISSING',
    'PERMISSION_DENIED',
    'DECISION_REQUIRED',
    'ILLEGAL_TRANSITION',
    'PRECONDITION_REQUIRED',
    'PRECONDITION_FAILED',
    'RECEIPT_STORE_UNAVAILABLE',
  ],
});

export const getPolicyCeilings = defineRoute({
  operation: 'get-policy-ceilings',
  summary: 'The ceilings of a tenant, with the ETag under which they may be replaced.',
  method: 'GET',
  path: '/internal/policy/ceilings/{tenant}',
  auth: 'service_internal',
  params: z.strictObject({ tenant: PolicyTenant }),
  reply: PolicyCeilings,
  errors: ['NOT_FOUND'],
});
