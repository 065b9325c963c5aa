import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { Currency, Instant, InvoiceId, ReceiptId, SubscriptionId, WorkspaceId } from '../scalars.ts';
import { MinorUnits, Quantity } from './amounts.ts';
import { TenantPath } from './billing-path.ts';
import { Meter } from './meter.ts';
import { BillingPlanId, PlanVersionNumber } from './plan-terms.ts';
import { BillingPeriod, RatedMeter } from './usage.ts';

export const InvoiceStatus = z.enum(['draft', 'open', 'paid', 'void', 'uncollectible']);
export type InvoiceStatus = z.infer<typeof InvoiceStatus>;

/** `late_usage`: usage that arrived after the subscription was canceled and its last period was billed. */
export const InvoiceKind = z.enum(['period', 'late_usage']);
export type InvoiceKind = z.infer<typeof InvoiceKind>;

/** A `promotional` grant reduces revenue. A `purchased` grant was paid in cash. */
export const CreditGrantKind = z.enum(['promotional', 'purchased']);
export type CreditGrantKind = z.infer<typeof CreditGrantKind>;

export const InvoiceSummary = z.strictObject({
  invoice_id: InvoiceId,
  subscription_id: SubscriptionId,
  kind: InvoiceKind,
  /** Consecutive within an organisation. `null` while the invoice is a draft. */
  number: z.int().min(1).nullable(),
  status: InvoiceStatus,
  currency: Currency,
  plan_id: BillingPlanId,
  plan_version: PlanVersionNumber,
  period: BillingPeriod,
  subtotal_minor: MinorUnits,
  tax_minor: MinorUnits,
  total_minor: MinorUnits,
  credited_minor: MinorUnits,
  paid_minor: MinorUnits,
  refunded_minor: MinorUnits,
  created_at: Instant,
  /** `null` while the invoice is a draft. */
  finalized_at: Instant.nullable(),
  /** `null` until the invoice is paid, void or uncollectible. */
  closed_at: Instant.nullable(),
});
export type InvoiceSummary = z.infer<typeof InvoiceSummary>;

const InvoiceLine = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('base'), amount_minor: MinorUnits }),
  z.strictObject({ kind: z.literal('usage'), ...RatedMeter.shape }),
]);
export type InvoiceLine = z.infer<typeof InvoiceLine>;

const BilledEvent = z.strictObject({
  source: z.string(),
  id: z.string(),
  /** The receipt that the event was counted from. `null` for submitted events. */
  receipt_id: ReceiptId.nullable(),
  /** The workspace that used it, which keeps the receipt. `null` when the event names no workspace. */
  workspace_id: WorkspaceId.nullable(),
  quantity: Quantity,
  occurred_at: Instant,
});
export type BilledEvent = z.infer<typeof BilledEvent>;

export const listInvoices = defineRoute({
  operation: 'list-invoices',
  summary: 'List the invoices of an organisation, newest first.',
  method: 'GET',
  path: '/api/billing/tenants/{tenant_id}/invoices',
  auth: 'session',
  forward: {},
  params: z.strictObject(TenantPath),
  query: z.strictObject({ ...PageQuery, status: InvoiceStatus.optional() }),
  reply: page(InvoiceSummary),
  errors: ['NOT_FOUND'],
});

export const getInvoice = defineRoute({
  operation: 'get-invoice',
  summary: 'Get an invoice with its lines. `meter` adds a page of the usage events behind the line of that meter.',
  method: 'GET',
  path: '/api/billing/tenants/{tenant_id}/invoices/{invoice_id}',
  auth: 'session',
  forward: {},
  params: z.strictObject({ ...TenantPath, invoice_id: z.string().min(1).max(128) }),
  query: z.strictObject({ ...PageQuery, meter: Meter.optional() }),
  reply: z.strictObject({
    ...InvoiceSummary.shape,
    lines: z.array(InvoiceLine),
    /** `null` when the request has no `meter`. */
    events: page(BilledEvent).nullable(),
  }),
  errors: ['NOT_FOUND'],
});
