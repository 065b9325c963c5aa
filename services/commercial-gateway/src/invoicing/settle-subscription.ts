import type { BillingCaller, BillingDeps } from '../billing-deps.ts';
import { changeSubscription } from '../billing/change-subscription.ts';
import type { Tx } from '../store/database.ts';
import { hasOpenInvoice, type StoredInvoice } from '../store/invoices.ts';
import { findCurrentSubscription } from '../store/subscriptions.ts';
import { commitSubscription } from '../subscriptions/commit-subscription.ts';

/** Makes the current subscription active again after an invoice was paid or voided, if no other invoice is open. */
export async function settleSubscription(
  tx: Tx,
  deps: BillingDeps,
  { invoice, at }: { invoice: StoredInvoice; at: Date },
  caller: BillingCaller,
): Promise<void> {
  const { orgId } = invoice;
  const before = await findCurrentSubscription(tx, orgId);
  if (before === null || (before.status !== 'past_due' && before.status !== 'unpaid')) return;
  if (await hasOpenInvoice(tx, orgId)) return;
  const after = changeSubscription(before, 'settle', at);
  await commitSubscription(tx, deps, { before, after, action: 'settled' }, caller);
}
