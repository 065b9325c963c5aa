import type { InvoiceId } from '@countersign/contracts';
import type { BillingCaller } from '../billing-deps.ts';
import { receivePaymentIn } from '../invoicing/receive-payment.ts';
import { recordAudit } from '../store/audit.ts';
import { completeCheckout, findCheckout } from '../store/checkouts.ts';
import { collectAgain, updateCollection } from '../store/collections.ts';
import type { Tx } from '../store/database.ts';
import { findInvoice } from '../store/invoices.ts';
import { setPaymentMethod } from '../store/payment-customers.ts';
import { findCurrentSubscription } from '../store/subscriptions.ts';
import { activatePlanIn, isBilled } from '../subscriptions/activate-plan.ts';
import type { PaymentDeps } from './payment-deps.ts';
import type { ProviderPayment, PaymentFact, PaymentProvider } from './payment-provider.ts';
import { readAgainAt } from './processing-time.ts';
import { ledgerReferenceOf } from './provider-reference.ts';

type Completed = {
  fact: Extract<PaymentFact, { kind: 'checked_out' }>;
  provider: PaymentProvider;
  at: Date;
};

/**
 * Applies a checkout that the payer completed. It stores the payment method, and schedules charges of the open invoices
 * to this method. It also posts the payment of an invoice, or begins a subscription. Returns false for an unknown
 * checkout and for one that was completed before.
 */
export async function completeCheckoutIn(
  tx: Tx,
  deps: PaymentDeps,
  { fact: { checkoutId, methodId, payment }, provider, at }: Completed,
  caller: BillingCaller,
): Promise<boolean> {
  const { orgId, actor, requestId } = caller;
  const checkout = await findCheckout(tx, orgId, checkoutId);
  if (checkout === null || checkout.provider !== provider.name || checkout.completedAt !== null) return false;
  await completeCheckout(tx, checkout, at);
  if (methodId !== null) {
    await setPaymentMethod(tx, { orgId, provider: provider.name }, methodId);
    await collectAgain(tx, orgId, at);
  }
  if (checkout.invoiceId !== null && payment !== null)
    await applyPagePaymentIn(tx, deps, { invoiceId: checkout.invoiceId, payment, provider, at }, caller);
  const { planId, planVersion } = checkout;
  if (planId !== null && planVersion !== null) {
    const before = await findCurrentSubscription(tx, orgId);
    // For a subscription that is already billed, the checkout only changed the payment method.
    if (before === null || !isBilled(before))
      await activatePlanIn(tx, deps, { before, planId, planVersion, at }, caller);
  }
  const details = { provider: provider.name, plan_id: planId, invoice_id: checkout.invoiceId };
  const act = { scope: orgId, action: 'checkout.completed', actor, requestId, subject: checkout.id, details } as const;
  await recordAudit(tx, { ...act, verdict: 'allow' }, at);
  return true;
}

type PaidOnPage = { invoiceId: InvoiceId; payment: ProviderPayment; provider: PaymentProvider; at: Date };

/**
 * Stores the payment of the page as the only payment of the invoice. The event of the payment may arrive after the
 * event of the page. Until then the invoice looks open, and a second payment would charge it twice.
 */
async function applyPagePaymentIn(
  tx: Tx,
  deps: PaymentDeps,
  { invoiceId, payment: { reference, received }, provider, at }: PaidOnPage,
  caller: BillingCaller,
): Promise<void> {
  const place = { orgId: caller.orgId, invoiceId };
  if (received !== null)
    await receivePaymentIn(
      tx,
      deps,
      { invoiceId, ...received, reference: ledgerReferenceOf(provider.name, reference), at },
      caller,
    );
  const isOpen = (await findInvoice(tx, caller.orgId, invoiceId))?.status === 'open';
  const nextAt = isOpen ? readAgainAt(at) : null;
  await updateCollection(tx, place, { provider: provider.name, reference, failureCode: null, nextAt, updatedAt: at });
}
