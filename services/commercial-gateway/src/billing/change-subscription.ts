import { AppError } from '@countersign/contracts';
import type { SubscriptionStatus } from '@countersign/contracts/commercial-gateway';
import { wholeSecond } from './period.ts';
import { isGraceOver, nextSubscriptionStatus } from './subscription-status.ts';

type SubscriptionState = {
  status: SubscriptionStatus;
  anchorAt: Date;
  periodIndex: number;
  periodStart: Date;
  billableFrom: Date;
  pastDueSince: Date | null;
  canceledAt: Date | null;
  updatedAt: Date;
};

/** Actions whose effect depends only on the subscription. */
export type SubscriptionAction = 'activate' | 'fail_payment' | 'settle' | 'end_grace' | 'cancel';

/**
 * Returns the subscription after the action. Activation begins the first billed period, so usage of the trial stays
 * free. Throws ILLEGAL_TRANSITION when the status does not permit the action, or when the grace period is not over.
 */
export function changeSubscription<Subscription extends SubscriptionState>(
  subscription: Subscription,
  action: SubscriptionAction,
  now: Date,
): Subscription {
  const status = nextSubscriptionStatus(subscription.status, action);
  const changed = { ...subscription, status, updatedAt: now };
  switch (action) {
    case 'activate': {
      const start = wholeSecond(now);
      return { ...changed, anchorAt: start, periodIndex: 0, periodStart: start, billableFrom: start };
    }
    case 'fail_payment':
      return { ...changed, pastDueSince: now };
    case 'settle':
      return { ...changed, pastDueSince: null };
    case 'end_grace':
      if (subscription.pastDueSince === null || !isGraceOver(subscription.pastDueSince, now)) throw graceInProgress();
      return changed;
    case 'cancel':
      return { ...changed, pastDueSince: null, canceledAt: now };
    default:
      return action satisfies never;
  }
}

function graceInProgress(): AppError {
  return new AppError('ILLEGAL_TRANSITION', 'The grace period of 14 days after the failed payment is not over');
}
