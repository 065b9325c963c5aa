import { InvoiceId } from '@countersign/contracts';
import type Stripe from 'stripe';
import type { FactOwner, ProviderPayment, PaymentFact } from './payment-provider.ts';
import { minorOfStripeAmount } from './stripe-amount.ts';
import { orUnavailable } from './stripe-client.ts';

type StripeObject = {
  type: string;
  /** `null` when the object of the event has no ID. */
  objectId: string | null;
};

/**
 * Fetches the object of an event, because events arrive in any order and contain old states. `null` when the object
 * does not belong to an invoice or a checkout of this service, or its state changes nothing here.
 */
export async function readStripeFact(client: Stripe, { type, objectId }: StripeObject): Promise<PaymentFact | null> {
  if (objectId === null) return null;
  if (type.startsWith('payment_intent.')) return paymentFact(await orUnavailable(intentOf(client, objectId)));
  if (type.startsWith('checkout.session.')) return await checkoutFact(client, objectId);
  if (type.startsWith('refund.')) return await refundFact(client, objectId);
  if (type.startsWith('charge.dispute.')) return await disputeFact(client, objectId);
  return null;
}

function intentOf(client: Stripe, id: string): Promise<Stripe.PaymentIntent> {
  return client.paymentIntents.retrieve(id);
}

function paymentFact(intent: Stripe.PaymentIntent): PaymentFact | null {
  const about = aboutOf(intent);
  if (about === null) return null;
  const { id: reference, status, amount_received, payment_method, last_payment_error: failure } = intent;
  const currency = intent.currency.toUpperCase();
  if (status === 'succeeded') {
    const amountMinor = minorOfStripeAmount(amount_received, currency);
    const methodId = idOf(payment_method);
    return amountMinor === null ? null : { kind: 'paid', ...about, reference, methodId, amountMinor, currency };
  }
  if (status !== 'requires_payment_method' || failure === null) return null;
  return { kind: 'refused', ...about, reference, code: failure.decline_code ?? failure.code ?? 'card_declined' };
}

async function checkoutFact(client: Stripe, id: string): Promise<PaymentFact | null> {
  const expand = ['setup_intent', 'payment_intent'];
  const session = await orUnavailable(client.checkout.sessions.retrieve(id, { expand }));
  const { status, client_reference_id: checkoutId, customer, setup_intent, payment_intent } = session;
  const customerId = idOf(customer);
  if (status !== 'complete' || checkoutId === null || customerId === null) return null;
  const intent = setup_intent ?? payment_intent;
  const methodId = intent === null || typeof intent === 'string' ? null : idOf(intent.payment_method);
  const payment =
    payment_intent === null || typeof payment_intent === 'string' ? null : providerPayment(payment_intent);
  return { kind: 'checked_out', owner: { kind: 'customer', customerId }, checkoutId, methodId, payment };
}

function providerPayment({
  id: reference,
  status,
  amount_received,
  currency: code,
}: Stripe.PaymentIntent): ProviderPayment {
  const currency = code.toUpperCase();
  const amountMinor = status === 'succeeded' ? minorOfStripeAmount(amount_received, currency) : null;
  return { reference, received: amountMinor === null ? null : { amountMinor, currency } };
}

async function refundFact(client: Stripe, id: string): Promise<PaymentFact | null> {
  const refund = await orUnavailable(client.refunds.retrieve(id, { expand: ['payment_intent'] }));
  return refund.status === 'succeeded' ? returnedFact(refund, refund.metadata?.['reference'] ?? null) : null;
}

/** A lost dispute returns the money, like a refund that was made at Stripe. */
async function disputeFact(client: Stripe, id: string): Promise<PaymentFact | null> {
  const dispute = await orUnavailable(client.disputes.retrieve(id, { expand: ['payment_intent'] }));
  return dispute.status === 'lost' ? returnedFact(dispute, null) : null;
}

type Returned = Pick<Stripe.Refund, 'id' | 'amount' | 'currency' | 'payment_intent'>;

function returnedFact(
  { id: reference, amount, currency: code, payment_intent: intent }: Returned,
  requested: string | null,
): PaymentFact | null {
  if (intent === null || typeof intent === 'string') return null;
  const about = aboutOf(intent);
  const currency = code.toUpperCase();
  const amountMinor = minorOfStripeAmount(amount, currency);
  if (about === null || amountMinor === null) return null;
  return { kind: 'refunded', ...about, reference, payment: providerPayment(intent), requested, amountMinor, currency };
}

function aboutOf({ customer, metadata }: Stripe.PaymentIntent): { owner: FactOwner; invoiceId: InvoiceId } | null {
  const customerId = idOf(customer);
  const invoiceId = InvoiceId.safeParse(metadata['invoice_id']);
  if (customerId === null || !invoiceId.success) return null;
  return { owner: { kind: 'customer', customerId }, invoiceId: invoiceId.data };
}

function idOf(object: string | { id: string } | null): string | null {
  return typeof object === 'string' ? object : (object?.id ?? null);
}
