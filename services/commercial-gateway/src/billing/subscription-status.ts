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

/** The status after the action. Throws ILLEGAL_TRANSITION when the status does not permit the action. */
export function nextSubscriptionStatus(status: SubscriptionStatus, action: SubscriptionAction): SubscriptionStatus {
  const to = transitions[status][action];
  if (to !== undefined) return to;
  throw new AppError('ILLEGAL_TRANSITION', `The subscription is ${status}, which does not permit ${action}`, {
    details: { status, allowed: Object.keys(transitions[status]) },
  });
}

const graceMs = 14 * 86_400_000;

/** True when a past-due subscription becomes unpaid: 14 days after the first failed payment. */
export function isGraceOver(pastDueSince: Date, now: Date): boolean {
  return now.getTime() - pastDueSince.getTime() >= graceMs;
}

/** Submitted usage can be 35 days old. Receipts that an outage delayed have one more day. */
const lateUsageMs = 36 * 86_400_000;

/** True when the usage of a canceled subscription is complete: no more of its events is accepted. */
export function isLateUsageOver(canceledAt: Date, now: Date): boolean {
  return now.getTime() - canceledAt.getTime() >= lateUsageMs;
}

/** The latest cancellation whose usage is complete. */
export function lateUsageOverBefore(now: Date): Date {
  return new Date(now.getTime() - lateUsageMs);
}

/** The latest first failed payment whose grace period is over. */
export function graceOverBefore(now: Date): Date {
  return new Date(now.getTime() - graceMs);
}

/** Operations that billing never limits, whatever the status is. An unpaid organisation is never frozen. */
export const unlimitedOperations = ['stop', 'deny', 'approve', 'verify', 'prove', 'export', 'delete'] as const;

type MeteredOperation = 'start_run' | (typeof unlimitedOperations)[number];

const statusesWithRuns: ReadonlySet<SubscriptionStatus> = new Set(['trialing', 'active', 'past_due']);

/** Whether a subscription in this status permits the operation. Only new runs depend on it. */
export function permitsOperation(status: SubscriptionStatus, operation: MeteredOperation): boolean {
  return operation !== 'start_run' || statusesWithRuns.has(status);
}
