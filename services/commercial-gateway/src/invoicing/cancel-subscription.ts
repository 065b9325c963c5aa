import { AppError } from '@countersign/contracts';
import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import { changeSubscription } from '../billing/change-subscription.ts';
import { wholeSecond } from '../billing/period.ts';
import type { Tx } from '../store/database.ts';
import type { StoredInvoice } from '../store/invoices.ts';
import type { StoredSubscription } from '../store/subscriptions.ts';
import { commitSubscription, getCurrentSubscription } from '../subscriptions/commit-subscription.ts';
import { billPeriod, periodInProgress } from './bill-period.ts';

/**
 * Cancels the subscription now and drafts its last invoice. A subscription that is not billed yet is canceled without
 * an invoice. Throws GATE_NOT_PASSED while an earlier period is not closed.
 */
export function cancelSubscription(
  deps: BillingDeps,
  { taxPercent }: { taxPercent: string | null },
  caller: BillingCaller,
): Promise<StoredInvoice | null> {
  return inBillingAccount(deps, caller.orgId, async (tx, at) => {
    const before = await getCurrentSubscription(tx, caller);
    return await cancelSubscriptionIn(tx, deps, { before, taxPercent, at }, caller);
  });
}

type Cancellation = { before: StoredSubscription; taxPercent: string | null; at: Date };

/** Like `cancelSubscription`, in the caller's transaction, which must hold the lock of the billing account. */
export async function cancelSubscriptionIn(
  tx: Tx,
  deps: BillingDeps,
  { before, taxPercent, at }: Cancellation,
  caller: BillingCaller,
): Promise<StoredInvoice | null> {
  const isBilled = before.status !== 'incomplete' && before.status !== 'trialing';
  const end = wholeSecond(at);
  if (isBilled && end >= periodInProgress(before).end)
    throw new AppError('GATE_NOT_PASSED', 'The last period is not closed yet. Try again later', {
      details: { missing: ['close_period'] },
    });
  const bill = { subscription: before, end, taxPercent, at };
  const invoice = isBilled ? await billPeriod(tx, deps, bill, caller) : null;
  const after = changeSubscription(before, 'cancel', at);
  await commitSubscription(tx, deps, { before, after, action: 'canceled' }, caller);
  return invoice;
}
