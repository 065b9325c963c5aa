import { AppError } from '@countersign/contracts';
import type { SubscriptionStatus } from '@countersign/contracts/commercial-gateway';

type SubscriptionAction = 'start_trial' | 'activate' | 'fail_payment' | 'settle' | 'end_grace' | 'cancel';

const transitions: Readonly<
  Record<SubscriptionStatus, Partial<Readonly<Record<SubscriptionAction, SubscriptionStatus>>>>
> = {
  incomplete: { start_trial: 'trialing', activate: 'active', cancel: 'canceled' },
  trialing: { activate: 'active', cancel: 'canceled' },
  active: { fail_payment: 'past_due', cancel: 'canceled' },
  past_due: { settle: 'active', end_grace: 'unpaid', cancel: 'canceled' },
  unpaid: { settle: 'active', cancel: 'canceled' },
  canceled: {},
};

/** Returns the status after the action. Throws ILLEGAL_TRANSITION when the status does not permit the action. */
export function nextSubscriptionStatus(status: SubscriptionStatus, action: SubscriptionAction): SubscriptionStatus {
  const to = transitions[status][action];
  if (to !== undefined) return to;
  throw new AppError('ILLEGAL_TRANSITION', `The subscription is ${status}, which does not permit ${action}`, {
    details: { status, allowed: Object.keys(transitions[status]) },
  });
}

const graceMs = 14 * 86_400_000;

/** Returns true when a past-due subscription becomes unpaid: 14 days after the first failed payment. */
export function isGraceOver(pastDueSince: Date, now: Date): boolean {
  return now.getTime() - pastDueSince.getTime() >= graceMs;
}

/** Submitted usage can be 35 days old. One more day allows for receipts that an outage delayed. */
const lateUsageMs = 36 * 86_400_000;

/**
 * Returns true when the usage of a canceled subscription is complete, because late usage events are no longer accepted.
 */
export function isLateUsageOver(canceledAt: Date, now: Date): boolean {
  return now.getTime() - canceledAt.getTime() >= lateUsageMs;
}

/** Returns the latest time of cancellation for which usage is complete. */
export function lateUsageOverBefore(now: Date): Date {
  return new Date(now.getTime() - lateUsageMs);
}

/** Returns the latest time of a first failed payment for which the grace period is over. */
export function graceOverBefore(now: Date): Date {
  return new Date(now.getTime() - graceMs);
}

/** Operations that billing never limits, whatever the status is. They stay available to an unpaid organisation. */
export const unlimitedOperations = ['stop', 'deny', 'approve', 'verify', 'prove', 'export', 'delete'] as const;

type MeteredOperation = 'start_run' | (typeof unlimitedOperations)[number];

const statusesWithRuns: ReadonlySet<SubscriptionStatus> = new Set(['trialing', 'active', 'past_due']);

/** Returns whether a subscription in this status permits the operation. Only new runs depend on the status. */
export function permitsOperation(status: SubscriptionStatus, operation: MeteredOperation): boolean {
  return operation !== 'start_run' || statusesWithRuns.has(status);
}
