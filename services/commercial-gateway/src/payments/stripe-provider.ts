import { AppError } from '@countersign/contracts';
import type Stripe from 'stripe';
import { z } from 'zod';
import { checkoutExpiresAt } from './checkout-lifetime.ts';
import type {
  ChargeOutcome,
  ChargeRequest,
  CheckoutRequest,
  PaymentProvider,
  RefundOutcome,
  RefundRequest,
} from './payment-provider.ts';
import { signedEvent } from './signed-event.ts';
import { minorOfStripeAmount, stripeAmountOf } from './stripe-amount.ts';
import { orUnavailable, refusalOf, unavailable } from './stripe-client.ts';
import { readStripeFact } from './stripe-facts.ts';

type StripeOptions = {
  client: Stripe;
  webhookSecret: string;
  /** The page to which the payer returns. */
  returnUrl: string;
};

/** The members of an event that are used. The object of the event is fetched from Stripe. */
const StripeEvent = z.object({
  id: z.string().min(1).max(255),
  type: z.string().min(1).max(255),
  data: z.object({ object: z.object({ id: z.string().min(1).max(255).optional() }) }),
});

export function createStripeProvider({ client, webhookSecret, returnUrl }: StripeOptions): PaymentProvider {
  return {
    name: 'stripe',
    ensureCustomer: async ({ orgId, name }) => {
      const customer = client.customers.create(
        { name: name.slice(0, 256), metadata: { org_id: orgId } },
        { idempotencyKey: `customer-${orgId}` },
      );
      return (await orUnavailable(customer)).id;
    },
    checkout: (request) => createSession(client, request, returnUrl),
    charge: (request) => charge(client, request),
    refund: (request) => refund(client, request),
    parseEvent: (received) => {
      const { id, type, data } = signedEvent(received, StripeEvent, {
        header: 'stripe-signature',
        secret: webhookSecret,
      });
      return { id, type, read: () => readStripeFact(client, { type, objectId: data.object.id ?? null }) };
    },
  };
}

async function createSession(
  client: Stripe,
  { checkoutId, orgId, customer, createdAt, purpose }: CheckoutRequest,
  returnUrl: string,
): Promise<{ url: string }> {
  const shared = {
    ...{ customer: customer.id, client_reference_id: checkoutId, success_url: returnUrl, cancel_url: returnUrl },
    expires_at: Math.floor(checkoutExpiresAt(createdAt).getTime() / 1_000),
    metadata: { org_id: orgId },
  };
  const session = client.checkout.sessions.create(
    purpose.kind === 'subscription'
      ? { ...shared, mode: 'setup', currency: purpose.currency.toLowerCase() }
      : { ...shared, mode: 'payment', ...paymentOf(purpose, orgId) },
    { idempotencyKey: `checkout-${checkoutId}` },
  );
  const { url } = await orUnavailable(session);
  if (url === null) throw new AppError('PAYMENT_PROVIDER_UNAVAILABLE', 'The payment provider returned no page');
  return { url };
}

type InvoicePurpose = Extract<CheckoutRequest['purpose'], { kind: 'invoice' }>;

function paymentOf({ invoiceId, number, amountMinor, currency }: InvoicePurpose, orgId: string) {
  const unit_amount = stripeAmountOf(amountMinor, currency);
  if (unit_amount === null)
    throw new AppError(
      'GATE_NOT_PASSED',
      `The payment provider cannot charge ${amountMinor} minor units of ${currency}`,
      {
        details: { missing: ['payable_amount'] },
      },
    );
  const product_data = { name: `Invoice ${number}` };
  const price_data = { currency: currency.toLowerCase(), unit_amount, product_data };
  return {
    line_items: [{ quantity: 1, price_data }],
    // Stripe stores the payment method, so that later invoices can be charged to it.
    payment_intent_data: {
      metadata: { org_id: orgId, invoice_id: invoiceId },
      setup_future_usage: 'off_session',
    } as const,
  };
}

/**
 * Charges an invoice with one payment. The payment is created unconfirmed, with an idempotency key of the invoice. A
 * payment succeeds at most once, so neither a lost answer nor an expired idempotency key charges twice.
 */
async function charge(client: Stripe, request: ChargeRequest): Promise<ChargeOutcome> {
  const { orgId, invoiceId, amountMinor, currency, customer, reference } = request;
  const amount = stripeAmountOf(amountMinor, currency);
  if (amount === null) return { kind: 'refused', code: 'amount_not_representable' };
  if (customer === null || customer.methodId === null) return { kind: 'refused', code: 'no_payment_method' };
  if (reference !== null) return await confirm(client, { reference, amount, methodId: customer.methodId });
  const params = {
    ...{ amount, currency: currency.toLowerCase(), customer: customer.id },
    ...{ metadata: { org_id: orgId, invoice_id: invoiceId }, description: `Invoice ${invoiceId}` },
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
  } as const;
  try {
    const { id } = await client.paymentIntents.create(params, { idempotencyKey: `invoice-${invoiceId}-${amount}` });
    return { kind: 'prepared', reference: id };
  } catch (error) {
    return refusalOf(error);
  }
}

type Confirmation = { reference: string; amount: number; methodId: string };

async function confirm(client: Stripe, { reference, amount, methodId }: Confirmation): Promise<ChargeOutcome> {
  const found = await orUnavailable(client.paymentIntents.retrieve(reference));
  const settled = outcomeOf(found);
  if (settled !== null) return settled;
  try {
    if (found.amount !== amount) await client.paymentIntents.update(reference, { amount });
    const params = { payment_method: methodId, off_session: true } as const;
    const confirmed = await client.paymentIntents.confirm(reference, params);
    return outcomeOf(confirmed) ?? { kind: 'refused', code: 'authentication_required' };
  } catch (error) {
    const refusal = refusalOf(error);
    // Stripe refuses this call when another call has already confirmed the payment.
    return outcomeOf(await orUnavailable(client.paymentIntents.retrieve(reference))) ?? refusal;
  }
}

/** Returns the outcome of a payment. `null` while it can still be confirmed. */
function outcomeOf(intent: Stripe.PaymentIntent): ChargeOutcome | null {
  const currency = intent.currency.toUpperCase();
  switch (intent.status) {
    case 'succeeded': {
      const amountMinor = minorOfStripeAmount(intent.amount_received, currency);
      if (amountMinor === null)
        throw new Error(`Payment ${intent.id} has an amount that minor units of ${currency} cannot express`);
      return { kind: 'succeeded', reference: intent.id, amountMinor, currency };
    }
    case 'processing':
      return { kind: 'processing' };
    case 'canceled':
      return { kind: 'refused', code: 'payment_canceled' };
    default:
      return null;
  }
}

async function refund(client: Stripe, request: RefundRequest): Promise<RefundOutcome> {
  const { orgId, invoiceId, paymentReference, reference, amountMinor, currency } = request;
  const amount = stripeAmountOf(amountMinor, currency);
  if (amount === null) return { kind: 'refused', code: 'amount_not_representable' };
  const metadata = { org_id: orgId, invoice_id: invoiceId, reference };
  const made = await findRefund(client, { paymentReference, reference });
  if (made !== null) return refundOutcomeOf(made);
  try {
    const params = { payment_intent: paymentReference, amount, metadata };
    return refundOutcomeOf(await client.refunds.create(params, { idempotencyKey: `refund-${orgId}-${reference}` }));
  } catch (error) {
    return refusalOf(error);
  }
}

/**
 * Finds the refund with this reference among the refunds of the payment. Some banks take days for a refund, and Stripe
 * forgets an idempotency key after one day. The key alone would therefore not prevent a second refund.
 */
async function findRefund(
  client: Stripe,
  { paymentReference, reference }: Pick<RefundRequest, 'paymentReference' | 'reference'>,
): Promise<Stripe.Refund | null> {
  try {
    for await (const made of client.refunds.list({ payment_intent: paymentReference, limit: 100 }))
      if (made.metadata?.['reference'] === reference) return made;
    return null;
  } catch (error) {
    throw unavailable(error);
  }
}

function refundOutcomeOf({ id, status }: Stripe.Refund): RefundOutcome {
  if (status === 'succeeded') return { kind: 'succeeded', reference: id };
  if (status === 'failed' || status === 'canceled') return { kind: 'refused', code: `refund_${status}` };
  return { kind: 'processing' };
}
