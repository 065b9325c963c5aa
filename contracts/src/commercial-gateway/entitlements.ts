import { z } from 'zod';
import { OrgId } from '../governance-kernel/tenants.ts';
import { defineRoute } from '../route.ts';
import { Instant } from '../scalars.ts';
import { BillingPlanId, Count, LimitName, PlanCapabilities, PlanCapability } from './plan-terms.ts';

/**
 * Capabilities that no plan, licence or override limits or leaves out: safety, and access to one's own evidence. A
 * limit with such a name does not parse.
 */
export const NeverLimited = z.enum([
  'stops',
  'denials',
  'approvals',
  'verification',
  'proof',
  'evidence_export',
  'deletion',
]);
export type NeverLimited = z.infer<typeof NeverLimited>;

export const EntitlementName = z.enum([...LimitName.options, ...PlanCapability.options, ...NeverLimited.options]);
export type EntitlementName = z.infer<typeof EntitlementName>;

/** An exception that an installation administrator grants to an organisation. */
export const EntitlementOverride = z.strictObject({
  /** `null` removes a limit. */
  limits: z.partialRecord(LimitName, Count.nullable()),
  capabilities: PlanCapabilities,
  created_at: Instant,
  expires_at: Instant,
});
export type EntitlementOverride = z.infer<typeof EntitlementOverride>;

/** The limits that enforcing services keep; `null` when there is no limit. */
export const EntitlementLimits = z.record(LimitName, Count.nullable());
export type EntitlementLimits = z.infer<typeof EntitlementLimits>;

export const EntitlementSource = z.enum(['plan', 'trial', 'licence', 'override']);
export type EntitlementSource = z.infer<typeof EntitlementSource>;

const LimitState = z.strictObject({
  /** `null` when there is no limit. */
  limit: Count.nullable(),
  /**
   * `tool_calls` of this month and `workspaces` are counted here. The other names are counted by the services that enforce them: `null` here.
   */
  used: Count.nullable(),
  /** `null` when there is no limit, or `used` is `null`. */
  remaining: Count.nullable(),
  /** `null` when the count never resets. */
  resets_at: Instant.nullable(),
});

export const Entitlements = z.strictObject({
  plan_id: BillingPlanId,
  source: EntitlementSource,
  limits: z.record(LimitName, LimitState),
  capabilities: PlanCapabilities,
  /** `null` when they have no end. */
  valid_until: Instant.nullable(),
});
export type Entitlements = z.infer<typeof Entitlements>;

const EntitlementReason = z.enum([
  'NEVER_LIMITED',
  'NO_LIMIT',
  'WITHIN_LIMIT',
  /** The amount alone is within the limit. The service that counts the name decides. */
  'NOT_COUNTED',
  'LIMIT_REACHED',
  'INCLUDED',
  'ENTITLEMENT_REQUIRED',
]);

export const EntitlementCheck = z.strictObject({
  allowed: z.boolean(),
  reason_code: EntitlementReason,
  /** `null` for what has no limit. */
  limit: Count.nullable(),
  /** `null` for what is not counted. */
  used: Count.nullable(),
  /** The first offered plan that allows it; `null` when it is allowed, or no offered plan allows it. */
  upgrade: z.strictObject({ plan_id: BillingPlanId }).nullable(),
});
export type EntitlementCheck = z.infer<typeof EntitlementCheck>;

const OfOrg = z.strictObject({ org_id: OrgId });

export const getEntitlements = defineRoute({
  operation: 'get-entitlements',
  summary: 'The entitlements of an organisation: the plan in force, its limits with their use, and its capabilities.',
  method: 'GET',
  path: '/api/entitlements',
  auth: 'session',
  forward: {},
  query: OfOrg,
  reply: Entitlements,
  errors: ['NOT_FOUND'],
});

export const checkEntitlements = defineRoute({
  operation: 'check-entitlement',
  summary:
    'Whether an organisation may do something more. A refusal has status 200, names the limit and the first plan that allows it. The check ' +
    'reserves nothing.',
  method: 'POST',
  path: '/api/entitlements/check',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'reads' },
  query: OfOrg,
  body: z.strictObject({
    name: EntitlementName,
    /** How many more are wanted; default 1. */
    amount: Count.min(1).optional(),
  }),
  reply: EntitlementCheck,
  errors: ['NOT_FOUND'],
});
