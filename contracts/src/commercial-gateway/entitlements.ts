import { z } from 'zod';
import { Instant } from '../scalars.ts';

/** What a plan may limit. `tool_calls` counts a calendar month in UTC; the others count what exists or runs now. */
export const LimitName = z.enum([
  'tool_calls',
  'concurrent_runs',
  'workspaces',
  'members',
  'connectors',
  'shadow_lanes',
  'retention_days',
]);
export type LimitName = z.infer<typeof LimitName>;

/** What a plan may include or leave out. */
export const PlanCapability = z.enum(['sso', 'scim', 'notifications', 'compliance']);
export type PlanCapability = z.infer<typeof PlanCapability>;

/** What no plan, licence or override limits or leaves out: safety, and access to one's own evidence. A limit with such a name does not parse. */
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

/** Enough for any count, and exact as a double with any other added to it. */
const Count = z.int().min(0).max(1_000_000_000_000);

/** A name that is absent has no limit. */
export const PlanLimits = z.partialRecord(LimitName, Count);
export type PlanLimits = z.infer<typeof PlanLimits>;

export const PlanCapabilities = z
  .array(PlanCapability)
  .max(PlanCapability.options.length)
  .refine((names) => new Set(names).size === names.length, 'must not repeat a capability');

export const CommercialPlanId = z.string().regex(/^[a-z][a-z0-9_]{0,62}$/, 'may hold lower-case letters, digits and _');
export const PlanVersionNumber = z.int().min(1).max(2_147_483_647);

/** The plan of an installation that sells nothing: every capability, no limit, no price. */
export const selfHostedPlanId = 'self_hosted';

const planMembers = {
  plan_id: CommercialPlanId,
  plan_version: PlanVersionNumber,
  limits: PlanLimits,
  capabilities: PlanCapabilities,
};

/** A version of a plan, as far as it concerns entitlements. It never changes. */
export const PlanTerms = z.strictObject(planMembers).refine(isUnlimitedIfSelfHosted, {
  message: 'self_hosted has every capability and no limit',
});
export type PlanTerms = z.infer<typeof PlanTerms>;

function isUnlimitedIfSelfHosted({ plan_id, limits, capabilities }: z.infer<z.ZodObject<typeof planMembers>>): boolean {
  if (plan_id !== selfHostedPlanId) return true;
  return Object.keys(limits).length === 0 && capabilities.length === PlanCapability.options.length;
}

/** An exception that an installation administrator grants to an organisation. */
export const EntitlementOverride = z.strictObject({
  /** `null` removes a limit. */
  limits: z.partialRecord(LimitName, Count.nullable()),
  capabilities: PlanCapabilities,
  created_at: Instant,
  expires_at: Instant,
});
export type EntitlementOverride = z.infer<typeof EntitlementOverride>;

export const EntitlementSource = z.enum(['plan', 'trial', 'licence', 'override']);
export type EntitlementSource = z.infer<typeof EntitlementSource>;

const LimitState = z.strictObject({
  /** `null` when there is no limit. */
  limit: Count.nullable(),
  used: Count,
  /** `null` when there is no limit. */
  remaining: Count.nullable(),
  /** `null` when the count never resets. */
  resets_at: Instant.nullable(),
});

export const Entitlements = z.strictObject({
  plan_id: CommercialPlanId,
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
  upgrade: z.strictObject({ plan_id: CommercialPlanId }).nullable(),
});
export type EntitlementCheck = z.infer<typeof EntitlementCheck>;
