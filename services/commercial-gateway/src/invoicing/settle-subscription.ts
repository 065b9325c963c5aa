import type { BillingCaller, BillingDeps } from '../billing-deps.ts';
import { changeSubscription } from '../billing/change-subscription.ts';
import type { Tx } from '../store/database.ts';
import { hasOpenInvoice, type StoredInvoice } from '../store/invoices.ts';
import { findSubscription } from '../store/subscriptions.ts';
import { commitSubscription } from '../subscriptions/commit-subscription.ts';

/** Makes the subscription of an invoice that was paid or voided active again when it has no other open invoice. */
export async function settleSubscription(
  tx: Tx,
  deps: BillingDeps,
  { invoice, at }: { invoice: StoredInvoice; at: Date },
  caller: BillingCaller,
): Promise<void> {
  const { orgId, subscriptionId } = invoice;
  const before = await findSubscription(tx, orgId, subscriptionId);
  if (before === null || (before.status !== 'past_due' && before.status !== 'unpaid')) return;
  if (await hasOpenInvoice(tx, orgId, subscriptionId)) return;
  const after = changeSubscription(before, 'settle', at);
  await commitSubscription(tx, deps, { before, after, action: 'settled' }, caller);
}
