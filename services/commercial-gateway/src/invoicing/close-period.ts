import { AppError } from '@countersign/contracts';
import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import type { Tx } from '../store/database.ts';
import type { StoredInvoice } from '../store/invoices.ts';
import type { StoredSubscription } from '../store/subscriptions.ts';
import { commitSubscription, getCurrentSubscription } from '../subscriptions/commit-subscription.ts';
import { billPeriod, periodInProgress } from './bill-period.ts';

/**
 * Ends the monthly period in progress, begins the next one and drafts the invoice. Returns `null` when the period is
 * not over or when the plan has no price. A repeated call bills nothing twice.
 */
export function closePeriod(
  deps: BillingDeps,
  { taxPercent }: { taxPercent: string | null },
  caller: BillingCaller,
): Promise<StoredInvoice | null> {
  return inBillingAccount(deps, caller.orgId, async (tx, at) => {
    const before = await getCurrentSubscription(tx, caller);
    assertBillable(before);
    if (!isPeriodOver(before, at)) return null;
    return (await closePeriodIn(tx, deps, { before, taxPercent, at }, caller)).invoice;
  });
}

type Closing = { before: StoredSubscription; taxPercent: string | null; at: Date };

/**
 * Closes all periods of a billed subscription that are over, in the transaction of the caller. Returns the changed
 * subscription.
 */
export async function closeEndedPeriodsIn(
  tx: Tx,
  deps: BillingDeps,
  { before, ...rest }: Closing,
  caller: BillingCaller,
): Promise<StoredSubscription> {
  let current = before;
  while (isPeriodOver(current, rest.at))
    current = (await closePeriodIn(tx, deps, { before: current, ...rest }, caller)).after;
  return current;
}

export function isPeriodOver(subscription: StoredSubscription, at: Date): boolean {
  return at >= periodInProgress(subscription).end;
}

async function closePeriodIn(
  tx: Tx,
  deps: BillingDeps,
  { before, taxPercent, at }: Closing,
  caller: BillingCaller,
): Promise<{ after: StoredSubscription; invoice: StoredInvoice | null }> {
  const { end } = periodInProgress(before);
  const invoice = await billPeriod(tx, deps, { subscription: before, end, taxPercent, at }, caller);
  const after = { ...before, periodIndex: before.periodIndex + 1, periodStart: end, updatedAt: at };
  await commitSubscription(tx, deps, { before, after, action: 'renewed' }, caller);
  return { after, invoice };
}

/** Throws ILLEGAL_TRANSITION before the first billed period. */
export function assertBillable({ status }: StoredSubscription): void {
  if (status === 'incomplete' || status === 'trialing')
    throw new AppError('ILLEGAL_TRANSITION', `The subscription is ${status} and has no billed period`);
}
