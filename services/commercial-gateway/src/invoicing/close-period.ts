import { AppError } from '@countersign/contracts';
import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import type { StoredInvoice } from '../store/invoices.ts';
import type { StoredSubscription } from '../store/subscriptions.ts';
import { commitSubscription, getCurrentSubscription } from '../subscriptions/commit-subscription.ts';
import { billPeriod, periodInProgress } from './bill-period.ts';

/**
 * Ends the monthly period in progress, begins the next one and drafts the invoice. Returns `null` when the period is not over or when
 * the plan has no price. A repeated call bills nothing twice.
 */
export function closePeriod(
  deps: BillingDeps,
  { taxPercent }: { taxPercent: string | null },
  caller: BillingCaller,
): Promise<StoredInvoice | null> {
  return inBillingAccount(deps, caller.orgId, async (tx, at) => {
    const before = await getCurrentSubscription(tx, caller);
    assertBillable(before);
    const { end } = periodInProgress(before);
    if (at < end) return null;
    const invoice = await billPeriod(tx, deps, { subscription: before, end, taxPercent, at }, caller);
    const after = { ...before, periodIndex: before.periodIndex + 1, periodStart: end, updatedAt: at };
    await commitSubscription(tx, deps, { before, after, action: 'renewed' }, caller);
    return invoice;
  });
}

/** Throws ILLEGAL_TRANSITION before the first billed period. */
export function assertBillable({ status }: StoredSubscription): void {
  if (status === 'incomplete' || status === 'trialing')
    throw new AppError('ILLEGAL_TRANSITION', `The subscription is ${status} and has no billed period`);
}
