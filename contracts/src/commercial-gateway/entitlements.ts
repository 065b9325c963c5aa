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

/** The limits that the services enforce, by name. `null` when there is no limit. */
export const EntitlementLimits = z.record(LimitName, Count.nullable());
export type EntitlementLimits = z.infer<typeof EntitlementLimits>;

export const EntitlementSource = z.enum(['plan', 'trial', 'licence', 'override']);
export type EntitlementSource = z.infer<typeof EntitlementSource>;

const LimitState = z.strictObject({
  /** `null` when there is no limit. */
  limit: Count.nullable(),
  /**
   * The usage of `workspaces`, and of `tool_calls` in this month. `null` for other names. Their usage is counted by the
   * services that enforce these limits.
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
  /** The end of these terms. `null` when they have no end. */
  valid_until: Instant.nullable(),
});
export type Entitlements = z.infer<typeof Entitlements>;

const EntitlementReason = z.enum([
  'NEVER_LIMITED',
  'NO_LIMIT',
  'WITHIN_LIMIT',
  /** The requested amount is within the limit. Existing usage is not known here: the service that counts it decides. */
  'NOT_COUNTED',
  'LIMIT_REACHED',
  'INCLUDED',
  'ENTITLEMENT_REQUIRED',
]);

export const EntitlementCheck = z.strictObject({
  /** Whether the capability or amount is allowed. */
  allowed: z.boolean(),
  /** Why it is allowed or refused, as a code. */
  reason_code: EntitlementReason,
  /** The limit of the name. `null` when the name has no limit. */
  limit: Count.nullable(),
  /** The current usage. `null` when this service does not count the name. */
  used: Count.nullable(),
  /**
   * The first offered plan that allows the request. `null` when it is already allowed, or no offered plan allows it.
   */
  upgrade: z.strictObject({ plan_id: BillingPlanId }).nullable(),
});
export type EntitlementCheck = z.infer<typeof EntitlementCheck>;

const OfOrg = z.strictObject({ org_id: OrgId });

export const getEntitlements = defineRoute({
  operation: 'get-entitlements',
  summary:
    'Get the entitlements of an organisation: the plan in force, its limits with their use, and its capabilities.',
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
    'Check whether an organisation may use a capability or more of a limit. A refusal has status 200 and names ' +
    'the first plan that allows it. Nothing is reserved.',
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
