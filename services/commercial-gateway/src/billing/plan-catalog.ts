import {
  PlanCapability,
  PlanVersion,
  selfHostedPlanId,
  type BillingPlanId,
} from '@countersign/contracts/commercial-gateway';

/** Plans that ship with the product. To change a price, append a version; existing subscriptions keep theirs. */
export const planCatalog: readonly PlanVersion[] = [
  {
    plan_id: selfHostedPlanId,
    version: 1,
    name: 'Self-hosted',
    currency: null,
    base_minor: 0,
    meters: [],
    limits: {},
    capabilities: PlanCapability.options,
  },
  {
    plan_id: 'team',
    version: 1,
    name: 'Team',
    currency: 'EUR',
    base_minor: 4_900,
    meters: [
      {
        meter: 'tool_calls',
        included: 10_000,
        tiers: [
          { up_to: 90_000, unit_amount_decimal: '0.2' },
          { up_to: null, unit_amount_decimal: '0.1' },
        ],
      },
      { meter: 'model_tokens', included: 1_000_000, tiers: [{ up_to: null, unit_amount_decimal: '0.0001' }] },
      { meter: 'run_minutes', included: 1_000, tiers: [{ up_to: null, unit_amount_decimal: '0.5' }] },
      { meter: 'storage_gb_days', included: 300, tiers: [{ up_to: null, unit_amount_decimal: '0.75' }] },
      { meter: 'seats', included: 5, tiers: [{ up_to: null, unit_amount_decimal: '900' }] },
    ],
    limits: {
      tool_calls: 1_000_000,
      concurrent_runs: 10,
      workspaces: 10,
      members: 50,
      connectors: 50,
      shadow_lanes: 1,
    },
    capabilities: ['notifications'],
  },
  {
    plan_id: 'free',
    version: 1,
    name: 'Free',
    currency: null,
    base_minor: 0,
    meters: [],
    limits: {
      tool_calls: 1_000,
      concurrent_runs: 1,
      workspaces: 1,
      members: 3,
      connectors: 3,
      shadow_lanes: 0,
    },
    capabilities: [],
  },
].map((plan) => PlanVersion.parse(plan));

/** Returns the latest version of a plan in the catalogue. */
export function latestPlan(planId: BillingPlanId): PlanVersion | null {
  const versions = planCatalog.filter(({ plan_id }) => plan_id === planId);
  return versions.toSorted((a, b) => b.version - a.version)[0] ?? null;
}

/** Returns the latest version of each plan except the self-hosted one, cheapest first. */
export function offeredPlans(): PlanVersion[] {
  return planCatalog
    .filter((plan) => plan.plan_id !== selfHostedPlanId && latestPlan(plan.plan_id) === plan)
    .toSorted((a, b) => a.base_minor - b.base_minor);
}
