import type { BillingPlanId } from '@countersign/contracts/commercial-gateway';
import type { BillingCaller, BillingDeps } from '../billing-deps.ts';
import { changeSubscription } from '../billing/change-subscription.ts';
import type { Tx } from '../store/database.ts';
import type { StoredSubscription } from '../store/subscriptions.ts';
import { commitSubscription } from './commit-subscription.ts';
import { createSubscriptionIn } from './create-subscription.ts';

type Activation = {
  /** A subscription that is not billed yet. `null` when the organisation has no subscription. */
  before: StoredSubscription | null;
  planId: BillingPlanId;
  planVersion: number;
  at: Date;
};

/**
 * Begins the first billed period of a subscription to this plan. The caller must hold the lock of the billing account.
 */
export async function activatePlanIn(
  tx: Tx,
  deps: BillingDeps,
  { before, planId, planVersion, at }: Activation,
  caller: BillingCaller,
): Promise<void> {
  if (before === null) {
    await createSubscriptionIn(tx, deps, { planId, planVersion, start: 'active', at }, caller);
    return;
  }
  const after = { ...changeSubscription(before, 'activate', at), planId, planVersion };
  await commitSubscription(tx, deps, { before, after, action: 'activate' }, caller);
}

/** Returns whether the subscription has billed periods. */
export function isBilled({ status }: StoredSubscription): boolean {
  return status !== 'incomplete' && status !== 'trialing';
}
