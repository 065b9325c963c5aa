import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import { changeSubscription, type SubscriptionAction } from '../billing/change-subscription.ts';
import type { Tx } from '../store/database.ts';
import type { StoredSubscription } from '../store/subscriptions.ts';
import { commitSubscription, getCurrentSubscription } from './commit-subscription.ts';

/**
 * Applies an action to the current subscription. Throws ILLEGAL_TRANSITION when its status does not permit the action.
 * Cancellation and settlement are in `invoicing/`, because they also change invoices.
 */
export function moveSubscription(
  deps: BillingDeps,
  action: Exclude<SubscriptionAction, 'cancel' | 'settle'>,
  caller: BillingCaller,
): Promise<StoredSubscription> {
  return inBillingAccount(deps, caller.orgId, async (tx, at) => {
    const before = await getCurrentSubscription(tx, caller);
    return await moveSubscriptionIn(tx, deps, { before, action, at }, caller);
  });
}

type Move = { before: StoredSubscription; action: Exclude<SubscriptionAction, 'cancel' | 'settle'>; at: Date };

/** Like `moveSubscription`, in the caller's transaction, which must hold the lock of the billing account. */
export async function moveSubscriptionIn(
  tx: Tx,
  deps: BillingDeps,
  { before, action, at }: Move,
  caller: BillingCaller,
): Promise<StoredSubscription> {
  const after = changeSubscription(before, action, at);
  await commitSubscription(tx, deps, { before, after, action }, caller);
  return after;
}
