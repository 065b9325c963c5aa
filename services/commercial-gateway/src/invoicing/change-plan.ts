import { AppError } from '@countersign/contracts';
import type { BillingPlanId } from '@countersign/contracts/commercial-gateway';
import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import { wholeSecond } from '../billing/period.ts';
import type { Tx } from '../store/database.ts';
import type { StoredInvoice } from '../store/invoices.ts';
import { findPlanVersion } from '../store/plan-versions.ts';
import type { StoredSubscription } from '../store/subscriptions.ts';
import { commitSubscription, getCurrentSubscription } from '../subscriptions/commit-subscription.ts';
import { billPeriod, periodInProgress } from './bill-period.ts';
import { assertBillable } from './close-period.ts';

type NewPlan = { planId: BillingPlanId; planVersion: number; taxPercent: string | null };

/**
 * Changes the plan now. The part of the period before the change is billed at the old plan. Throws GATE_NOT_PASSED
 * while an earlier period is not closed, because the old plan must bill it.
 */
export function changePlan(deps: BillingDeps, plan: NewPlan, caller: BillingCaller): Promise<StoredInvoice | null> {
  return inBillingAccount(deps, caller.orgId, async (tx, at) => {
    const before = await getCurrentSubscription(tx, caller);
    return await changePlanIn(tx, deps, { before, ...plan, at }, caller);
  });
}

type PlanChange = NewPlan & { before: StoredSubscription; at: Date };

/** Like `changePlan`, in the caller's transaction, which must hold the lock of the billing account. */
export async function changePlanIn(
  tx: Tx,
  deps: BillingDeps,
  { before, planId, planVersion, taxPercent, at }: PlanChange,
  caller: BillingCaller,
): Promise<StoredInvoice | null> {
  assertBillable(before);
  const end = wholeSecond(at);
  if (end >= periodInProgress(before).end)
    throw new AppError('GATE_NOT_PASSED', 'The last period is not closed yet. Try again later', {
      details: { missing: ['close_period'] },
    });
  if ((await findPlanVersion(tx, { planId, version: planVersion })) === null)
    throw new AppError('INVALID_REQUEST', `The plan ${planId} has no version ${planVersion}`, { param: 'plan_id' });
  const invoice = await billPeriod(tx, deps, { subscription: before, end, taxPercent, at }, caller);
  const after = { ...before, planId, planVersion, periodStart: end, updatedAt: at };
  await commitSubscription(tx, deps, { before, after, action: 'plan_changed' }, caller);
  return invoice;
}
