import { AppError } from '@countersign/contracts';
import type { BillingPlanId, PlanVersion } from '@countersign/contracts/commercial-gateway';
import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import { findOfferedPlan } from '../billing/offered-plans.ts';
import type { Tx } from '../store/database.ts';
import type { StoredInvoice } from '../store/invoices.ts';
import { storePlanVersions } from '../store/plan-versions.ts';
import { findCurrentSubscription, type StoredSubscription } from '../store/subscriptions.ts';
import { activatePlanIn, isBilled } from '../subscriptions/activate-plan.ts';
import { assertNothingOpen } from './assert-nothing-open.ts';
import { cancelSubscriptionIn } from './cancel-subscription.ts';
import { changePlanIn } from './change-plan.ts';
import { closeEndedPeriodsIn } from './close-period.ts';

export type PlanChoice = { planId: BillingPlanId; planVersion: number };

type Result = { subscription: StoredSubscription | null; invoice: StoredInvoice | null };

/**
 * Subscribes the organisation to this plan now, or cancels its subscription when `plan` is `null`. Ended periods are
 * closed first. A repeated call changes nothing. Throws INVALID_REQUEST for a plan that is not offered to subscribers,
 * and GATE_NOT_PASSED for a new subscription while an earlier invoice is open.
 */
export function putSubscription(
  deps: BillingDeps,
  { plan, taxPercent }: { plan: PlanChoice | null; taxPercent: string | null },
  caller: BillingCaller,
): Promise<Result> {
  return inBillingAccount(deps, caller.orgId, async (tx, at) => {
    const current = await findCurrentSubscription(tx, caller.orgId);
    if (plan !== null && current !== null && hasPlan(current, plan) && isBilled(current))
      return { subscription: current, invoice: null };
    const isBillable = current !== null && isBilled(current);
    const before = isBillable
      ? await closeEndedPeriodsIn(tx, deps, { before: current, taxPercent, at }, caller)
      : current;
    if (plan === null) {
      const invoice = before === null ? null : await cancelSubscriptionIn(tx, deps, { before, taxPercent, at }, caller);
      return { subscription: null, invoice };
    }
    await storePlanVersions(tx, [getSubscribablePlan(plan)], at);
    const invoice = await applyPlan(tx, deps, { before, plan, taxPercent, at }, caller);
    return { subscription: await findCurrentSubscription(tx, caller.orgId), invoice };
  });
}

type Change = { before: StoredSubscription | null; plan: PlanChoice; taxPercent: string | null; at: Date };

async function applyPlan(
  tx: Tx,
  deps: BillingDeps,
  { before, plan, taxPercent, at }: Change,
  caller: BillingCaller,
): Promise<StoredInvoice | null> {
  if (before !== null && isBilled(before))
    return await changePlanIn(tx, deps, { before, ...plan, taxPercent, at }, caller);
  if (before === null) await assertNothingOpen(tx, caller);
  await activatePlanIn(tx, deps, { before, ...plan, at }, caller);
  return null;
}

function hasPlan({ planId, planVersion }: StoredSubscription, plan: PlanChoice): boolean {
  return planId === plan.planId && planVersion === plan.planVersion;
}

/**
 * Returns the chosen plan if it is offered and has a currency. Plans without a currency have no invoices, so a
 * subscriber cannot choose them.
 */
export function getSubscribablePlan({ planId, planVersion }: PlanChoice): PlanVersion & { currency: string } {
  const plan = findOfferedPlan(planId, planVersion);
  if (plan !== null && plan.currency !== null) return { ...plan, currency: plan.currency };
  throw new AppError(
    'INVALID_REQUEST',
    `plan.plan_id ${planId} at version ${planVersion} is not offered. Choose a plan with a currency from GET /api/billing/plans`,
    { param: 'plan.plan_id' },
  );
}
