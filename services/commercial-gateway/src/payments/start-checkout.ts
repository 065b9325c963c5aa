import { AppError, type CheckoutId, type InvoiceId } from '@countersign/contracts';
import { inBillingAccount, type BillingCaller } from '../billing-deps.ts';
import { newCheckoutId } from '../ids.ts';
import { assertNothingOpen } from '../invoicing/assert-nothing-open.ts';
import { getInvoice, openMinorOf } from '../invoicing/commit-invoice.ts';
import { getSubscribablePlan, type PlanChoice } from '../invoicing/put-subscription.ts';
import { recordAudit } from '../store/audit.ts';
import { insertCheckout } from '../store/checkouts.ts';
import type { Tx } from '../store/database.ts';
import type { Org } from '../store/orgs.ts';
import { findCustomer, insertCustomer } from '../store/payment-customers.ts';
import { storePlanVersions } from '../store/plan-versions.ts';
import { findCurrentSubscription } from '../store/subscriptions.ts';
import { isBilled } from '../subscriptions/activate-plan.ts';
import { createSubscriptionIn } from '../subscriptions/create-subscription.ts';
import { checkoutExpiresAt } from './checkout-lifetime.ts';
import type { PaymentDeps } from './payment-deps.ts';
import type { CheckoutRequest, Customer } from './payment-provider.ts';

export type CheckoutPurpose = ({ kind: 'subscription' } & PlanChoice) | { kind: 'invoice'; invoiceId: InvoiceId };

type Started = { id: CheckoutId; url: string; expiresAt: Date };

/**
 * Opens a page of the payment provider. A subscription is incomplete until the provider reports that the payer has
 * finished. Throws ILLEGAL_TRANSITION for a plan change of a billed subscription, and for an invoice that is not open.
 */
export async function startCheckout(
  deps: PaymentDeps,
  { org, purpose }: { org: Org; purpose: CheckoutPurpose },
  caller: BillingCaller,
): Promise<Started> {
  const provider = deps.payments.charging;
  const customer = await customerOf(deps, org);
  const request = await inBillingAccount(deps, org.id, async (tx, at) => {
    const page = await checkPurposeIn(tx, deps, { purpose, at }, caller);
    const id = newCheckoutId();
    await insertCheckout(tx, {
      ...{ id, orgId: org.id, provider: provider.name, createdBy: caller.actor, createdAt: at, completedAt: null },
      ...(purpose.kind === 'subscription'
        ? { planId: purpose.planId, planVersion: purpose.planVersion, invoiceId: null }
        : { planId: null, planVersion: null, invoiceId: purpose.invoiceId }),
    });
    const details = { provider: provider.name, purpose: purpose.kind };
    const { actor, requestId } = caller;
    const act = { scope: org.id, action: 'checkout.started', actor, requestId, subject: id, details } as const;
    await recordAudit(tx, { ...act, verdict: 'allow' }, at);
    return { checkoutId: id, orgId: org.id, customer, createdAt: at, purpose: page };
  });
  const { url } = await provider.checkout(request);
  return { id: request.checkoutId, url, expiresAt: checkoutExpiresAt(request.createdAt) };
}

async function customerOf({ database, payments, transaction, now }: PaymentDeps, org: Org): Promise<Customer> {
  const place = { orgId: org.id, provider: payments.charging.name };
  const stored = await findCustomer(database.reader, place);
  if (stored !== null) return stored;
  const customerId = await payments.charging.ensureCustomer({ orgId: org.id, name: org.name });
  return await transaction((tx) => insertCustomer(tx, { ...place, customerId, createdAt: now() }));
}

type Purpose = { purpose: CheckoutPurpose; at: Date };

async function checkPurposeIn(
  tx: Tx,
  deps: PaymentDeps,
  { purpose, at }: Purpose,
  caller: BillingCaller,
): Promise<CheckoutRequest['purpose']> {
  if (purpose.kind === 'subscription') return await beginSubscriptionIn(tx, deps, { plan: purpose, at }, caller);
  const invoice = await getInvoice(tx, caller, purpose.invoiceId);
  const { status, number, currency } = invoice;
  if (status !== 'open' || number === null)
    throw new AppError('ILLEGAL_TRANSITION', `The invoice is ${status}; a checkout requires the status open`, {
      details: { status, allowed_from: ['open'] },
    });
  return { kind: 'invoice', invoiceId: invoice.id, number, amountMinor: openMinorOf(invoice), currency };
}

async function beginSubscriptionIn(
  tx: Tx,
  deps: PaymentDeps,
  { plan: { planId, planVersion }, at }: { plan: PlanChoice; at: Date },
  caller: BillingCaller,
): Promise<CheckoutRequest['purpose']> {
  const plan = getSubscribablePlan({ planId, planVersion });
  const current = await findCurrentSubscription(tx, caller.orgId);
  const hasOtherPlan = current?.planId !== planId || current.planVersion !== planVersion;
  if (current !== null && isBilled(current) && hasOtherPlan)
    throw new AppError(
      'ILLEGAL_TRANSITION',
      `The subscription is already billed on plan ${current.planId}. Change its plan with PUT instead`,
      {
        details: { status: current.status, allowed: ['put_subscription'] },
      },
    );
  await storePlanVersions(tx, [plan], at);
  if (current === null) {
    await assertNothingOpen(tx, caller);
    await createSubscriptionIn(tx, deps, { planId, planVersion, start: 'incomplete', at }, caller);
  }
  return { kind: 'subscription', currency: plan.currency };
}
