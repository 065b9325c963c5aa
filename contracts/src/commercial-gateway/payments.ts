import { z } from 'zod';
import { OrgId } from '../governance-kernel/tenants.ts';
import { defineRoute } from '../route.ts';
import { AmountMinor, CheckoutId, Currency, Instant, InvoiceId } from '../scalars.ts';
import { TenantPath } from './billing-path.ts';
import { BillingPlanId, PlanVersionNumber } from './plan-terms.ts';

export const PaymentProviderName = z.enum(['manual', 'stripe']);
export type PaymentProviderName = z.infer<typeof PaymentProviderName>;

export const startCheckout = defineRoute({
  operation: 'start-checkout',
  summary:
    'Start a checkout at the payment provider, for a subscription or an open invoice. The payer continues at ' +
    '`url`. Nothing changes until the provider reports the result.',
  method: 'POST',
  idempotency: 'key',
  path: '/api/billing/tenants/{tenant_id}/checkout',
  auth: 'session',
  forward: {},
  status: 201,
  params: z.strictObject(TenantPath),
  body: z.discriminatedUnion('purpose', [
    z.strictObject({
      purpose: z.literal('subscription'),
      plan: z.strictObject({ plan_id: BillingPlanId, plan_version: PlanVersionNumber }),
    }),
    z.strictObject({ purpose: z.literal('invoice'), invoice_id: InvoiceId }),
  ]),
  reply: z.strictObject({
    checkout_id: CheckoutId,
    provider: PaymentProviderName,
    url: z.string(),
    /** The time when the page of the provider closes. */
    expires_at: Instant,
  }),
  errors: ['NOT_FOUND', 'GATE_NOT_PASSED', 'ILLEGAL_TRANSITION', 'PAYMENT_PROVIDER_UNAVAILABLE'],
});

/** An event of an accounting system, for installations without a payment provider. */
export const ManualPaymentEvent = z.strictObject({
  id: z.string().regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 visible ASCII characters'),
  type: z.enum(['payment.received', 'refund.sent']),
  data: z.strictObject({
    tenant_id: OrgId,
    invoice_id: InvoiceId,
    amount_minor: AmountMinor.min(1),
    currency: Currency,
    /** Identifies the transfer. The same reference is posted once. */
    reference: z.string().regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 visible ASCII characters'),
  }),
});
export type ManualPaymentEvent = z.infer<typeof ManualPaymentEvent>;

/** Events of payment providers are a few KiB. */
const eventBytesMax = 262_144;

export const receivePaymentEvent = defineRoute({
  operation: 'receive-payment-event',
  summary:
    'Receive an event of a payment provider, applied once. `stripe` signs with Stripe-Signature, and `manual` ' +
    'with Countersign-Signature (`t=<seconds>,v1=<HMAC-SHA256 of "<t>.<body>" in hex>`).',
  method: 'POST',
  idempotency: { exempt: 'named' },
  path: '/api/billing/webhooks/{provider}',
  auth: 'public',
  forward: { limit: 'webhook', passes: ['stripe-signature', 'countersign-signature'] },
  params: z.strictObject({ provider: z.string().min(1).max(32) }),
  bodyBytesMax: eventBytesMax,
  body: z.looseObject({}),
  reply: z.strictObject({
    /** `false` for an event that was applied before, or that concerns nothing in this installation. */
    applied: z.boolean(),
  }),
  errors: ['NOT_FOUND', 'SIGNATURE_INVALID', 'PAYMENT_PROVIDER_UNAVAILABLE'],
});

export const RefundStatus = z.enum(['pending', 'succeeded', 'failed']);
export type RefundStatus = z.infer<typeof RefundStatus>;

export const refundInvoice = defineRoute({
  operation: 'refund-invoice',
  summary:
    'Refund part of a paid invoice at its payment provider, once per reference. The ledger records the refund ' +
    'after the provider accepts it. Repeat the request to get its status.',
  method: 'POST',
  idempotency: { exempt: 'named' },
  path: '/api/commercial/admin/orgs/{org_id}/invoices/{invoice_id}/refunds',
  auth: 'commercial_admin',
  forward: {},
  params: z.strictObject({ org_id: z.string().min(1).max(128), invoice_id: z.string().min(1).max(128) }),
  body: z.strictObject({
    amount_minor: AmountMinor.min(1),
    currency: Currency,
    /** Identifies the refund within the organisation. */
    reference: z.string().regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 visible ASCII characters'),
  }),
  reply: z.strictObject({
    invoice_id: InvoiceId,
    reference: z.string(),
    provider: PaymentProviderName,
    amount_minor: AmountMinor,
    currency: Currency,
    status: RefundStatus,
    /** The reason code of the provider. `null` unless the refund failed. */
    failure_code: z.string().nullable(),
  }),
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION', 'IDEMPOTENCY_KEY_REUSED'],
});
