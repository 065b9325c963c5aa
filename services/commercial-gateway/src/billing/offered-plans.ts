import type { BillingPlanId, PlanVersion } from '@countersign/contracts/commercial-gateway';
import { planCatalog } from './plan-catalog.ts';

/** The plans of the catalog, each at its latest version. */
export function offeredPlans(): PlanVersion[] {
  return planCatalog.filter(({ plan_id, version }) =>
    planCatalog.every((candidate) => candidate.plan_id !== plan_id || candidate.version <= version),
  );
}

/** Returns the offered plan at this version. `null` when the version is unknown or a later version replaced it. */
export function findOfferedPlan(planId: BillingPlanId, version: number): PlanVersion | null {
  return offeredPlans().find((plan) => plan.plan_id === planId && plan.version === version) ?? null;
}
