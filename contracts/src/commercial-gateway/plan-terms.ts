import { z } from 'zod';

/** Identifier of a plan, such as `team`. */
export const BillingPlanId = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be a lower-case name such as team')
  .brand<'BillingPlanId'>();
export type BillingPlanId = z.infer<typeof BillingPlanId>;

/**
 * The quantities that a plan may limit. `tool_calls` counts a calendar month in UTC; the others count what exists or
 * runs now.
 */
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

/** The features that a plan may include or leave out. */
export const PlanCapability = z.enum(['sso', 'scim', 'notifications', 'compliance']);
export type PlanCapability = z.infer<typeof PlanCapability>;

/** The maximum is enough for any count. The sum of two counts is still exact as a double. */
export const Count = z.int().min(0).max(1_000_000_000_000);

/** A name that is absent has no limit. */
export const PlanLimits = z.partialRecord(LimitName, Count);
export type PlanLimits = z.infer<typeof PlanLimits>;

export const PlanCapabilities = z
  .array(PlanCapability)
  .max(PlanCapability.options.length)
  .refine((names) => new Set(names).size === names.length, 'must not repeat a capability');

export const PlanVersionNumber = z.int().min(1).max(2_147_483_647);

/** The plan of an installation that sells nothing: every capability, no limit, no price. */
export const selfHostedPlanId = 'self_hosted';

const planMembers = {
  plan_id: BillingPlanId,
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
