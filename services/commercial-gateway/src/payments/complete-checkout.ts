import type { BillingCaller } from '../billing-deps.ts';
import { recordAudit } from '../store/audit.ts';
import { completeCheckout, findCheckout } from '../store/checkouts.ts';
import { collectAgain } from '../store/collections.ts';
import type { Tx } from '../store/database.ts';
import { setPaymentMethod } from '../store/payment-customers.ts';
import { findCurrentSubscription } from '../store/subscriptions.ts';
import { activatePlanIn, isBilled } from '../subscriptions/activate-plan.ts';
import type { PaymentDeps } from './payment-deps.ts';
import type { PaymentFact, PaymentProvider } from './payment-provider.ts';

type Completed = {
  fact: Extract<PaymentFact, { kind: 'checked_out' }>;
  provider: PaymentProvider;
  at: Date;
};

/**
 * Stores the payment method of a checkout that the payer completed, begins the subscription that it was for, and charges open invoices to
 * that method. Returns false for an unknown checkout and for one that was completed before.
 */
export async function completeCheckoutIn(
  tx: Tx,
  deps: PaymentDeps,
  { fact: { checkoutId, methodId }, provider, at }: Completed,
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
  const { planId, planVersion } = checkout;
  if (planId !== null && planVersion !== null) {
    const before = await findCurrentSubscription(tx, orgId);
    // A subscription that is billed already was given another payment method.
    if (before === null || !isBilled(before))
      await activatePlanIn(tx, deps, { before, planId, planVersion, at }, caller);
  }
  const details = { provider: provider.name, plan_id: planId, invoice_id: checkout.invoiceId };
  const act = { scope: orgId, action: 'checkout.completed', actor, requestId, subject: checkout.id, details } as const;
  await recordAudit(tx, { ...act, verdict: 'allow' }, at);
  return true;
}
