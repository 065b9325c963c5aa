import { AppError } from '@countersign/contracts';
import type { BillingPlanId } from '@countersign/contracts/commercial-gateway';
import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import { wholeSecond } from '../billing/period.ts';
import { nextSubscriptionStatus } from '../billing/subscription-status.ts';
import { announceEntitlements } from '../entitlements/announce-entitlements.ts';
import { publishSubscriptionUpdated } from '../events.ts';
import { newSubscriptionId } from '../ids.ts';
import type { Tx } from '../store/database.ts';
import { findPlanVersion } from '../store/plan-versions.ts';
import { insertSubscription, type StoredSubscription } from '../store/subscriptions.ts';
import { auditSubscription, changeOf } from './commit-subscription.ts';

const trialMs = 14 * 86_400_000;

type NewSubscription = {
  planId: BillingPlanId;
  planVersion: number;
  /** `incomplete` awaits a checkout; `trial` is free for 14 days. */
  start: 'incomplete' | 'trial' | 'active';
};

/**
 * Subscribes an organisation to a plan version. Throws ALREADY_EXISTS when it has a subscription that is not canceled.
 */
export function createSubscription(
  deps: BillingDeps,
  subscription: NewSubscription,
  caller: BillingCaller,
): Promise<StoredSubscription> {
  return inBillingAccount(deps, caller.orgId, (tx, at) =>
    createSubscriptionIn(tx, deps, { ...subscription, at }, caller),
  );
}

/** Like `createSubscription`, in the caller's transaction, which must hold the lock of the billing account. */
export async function createSubscriptionIn(
  tx: Tx,
  deps: BillingDeps,
  { planId, planVersion, start, at }: NewSubscription & { at: Date },
  caller: BillingCaller,
): Promise<StoredSubscription> {
  if ((await findPlanVersion(tx, { planId, version: planVersion })) === null)
    throw new AppError('INVALID_REQUEST', `The plan ${planId} has no version ${planVersion}`, { param: 'plan_id' });
  const subscription = newSubscription({ orgId: caller.orgId, planId, planVersion, start, at });
  if (!(await insertSubscription(tx, subscription)))
    throw new AppError('ALREADY_EXISTS', 'The organisation has a subscription. Change its plan, or cancel it first');
  await publishSubscriptionUpdated(tx, deps, { subscription, from: null });
  await announceEntitlements(tx, deps, changeOf(subscription));
  await auditSubscription(tx, subscription, { action: 'created', caller, from: null });
  return subscription;
}

type Start = NewSubscription & { orgId: BillingCaller['orgId']; at: Date };

function newSubscription({ orgId, planId, planVersion, start, at }: Start): StoredSubscription {
  const second = wholeSecond(at);
  const status = {
    incomplete: 'incomplete',
    trial: nextSubscriptionStatus('incomplete', 'start_trial'),
    active: nextSubscriptionStatus('incomplete', 'activate'),
  } as const;
  return {
    ...{ id: newSubscriptionId(), orgId, planId, planVersion, status: status[start], periodIndex: 0 },
    ...{ anchorAt: second, periodStart: second, billableFrom: second },
    trialEndsAt: start === 'trial' ? new Date(second.getTime() + trialMs) : null,
    ...{ pastDueSince: null, canceledAt: null, settledAt: null, createdAt: at, updatedAt: at },
  };
}
