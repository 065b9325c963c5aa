import type { BillingPlanId, PlanVersion } from '@countersign/contracts/commercial-gateway';
import { planCatalog } from './plan-catalog.ts';

/** The plans of the catalog, each at its latest version. */
export function offeredPlans(): PlanVersion[] {
  return planCatalog.filter(({ plan_id, version }) =>
    planCatalog.every((other) => other.plan_id !== plan_id || other.version <= version),
  );
}

/** The offered plan at this version. `null` when it is unknown, or when a later version replaced it. */
export function findOfferedPlan(planId: BillingPlanId, version: number): PlanVersion | null {
  return offeredPlans().find((plan) => plan.plan_id === planId && plan.version === version) ?? null;
}
