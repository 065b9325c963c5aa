import { instantOrNull, instantOf } from '@countersign/contracts';
import type { Subscription } from '@countersign/contracts/commercial-gateway';
import { monthlyPeriod, type Period } from '../billing/period.ts';
import type { StoredSubscription } from '../store/subscriptions.ts';

export function subscriptionView(subscription: StoredSubscription): Subscription {
  const { id, planId, planVersion, status, anchorAt, periodIndex } = subscription;
  return {
    ...{ subscription_id: id, plan_id: planId, plan_version: planVersion, status },
    period: periodView(monthlyPeriod(anchorAt, periodIndex)),
    trial_ends_at: instantOrNull(subscription.trialEndsAt),
    past_due_since: instantOrNull(subscription.pastDueSince),
    created_at: instantOf(subscription.createdAt),
  };
}

export function periodView({ start, end }: Period): Subscription['period'] {
  return { start: instantOf(start), end: instantOf(end) };
}
