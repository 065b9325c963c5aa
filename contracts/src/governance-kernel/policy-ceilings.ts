import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ControlVersion, Instant, PrincipalId } from '../scalars.ts';
import { PolicyRule, RuleId } from './policy-bundle.ts';
import { BundleActivation, bundleBody, PolicyTenant } from './policy.ts';

/** The most ceilings of a tenant. Further rules belong in a policy. */
const ceilingsMax = 100;

/** A rule that every bundle must contain unchanged. It can only deny or escalate. */
export const PolicyCeiling = PolicyRule.extend({
  id: RuleId.regex(/^ceiling\./, 'must begin with ceiling.'),
  effect: z.enum(['deny', 'escalate']),
});

const CeilingRules = z
  .array(PolicyCeiling)
  .max(ceilingsMax)
  .refine((rules) => new Set(rules.map(({ id }) => id)).size === rules.length, 'must name each rule once');

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
    'Set all ceilings of a tenant, sealed. Ceilings of `*` apply to all tenants. A tenant whose active bundle ' +
    'lacks a ceiling is denied with CEILING_MISSING. `activation` activates a complete bundle in the same commit. ' +
    'The version only rises. Replacement requires If-Match.',
  method: 'PUT',
  path: '/internal/policy/ceilings/{tenant}',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({ tenant: PolicyTenant }),
  body: z.strictObject({
    version: ControlVersion,
    rules: CeilingRules,
    /** For a tenant with its own bundle: every new bundle needs an ALLOW of `policy.change` from now on. */
    needs_decision: z.boolean().default(false),
    /** The principal that set the ceilings, as stated by the caller. */
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
  summary: 'Get the ceilings of a tenant, with the ETag for their replacement.',
  method: 'GET',
  path: '/internal/policy/ceilings/{tenant}',
  auth: 'service_internal',
  params: z.strictObject({ tenant: PolicyTenant }),
  reply: PolicyCeilings,
  errors: ['NOT_FOUND'],
});
