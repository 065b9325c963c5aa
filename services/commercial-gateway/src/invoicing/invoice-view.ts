import { instantOrNull, instantOf } from '@countersign/contracts';
import {
  Meter,
  type InvoiceLine,
  type InvoiceSummary,
  type RatedMeter,
} from '@countersign/contracts/commercial-gateway';
import { z } from 'zod';
import type { RatedMeter as Rated } from '../billing/rate-usage.ts';
import { decimalOfMicros } from '../metering/micros.ts';
import type { StoredInvoice, StoredInvoiceLine } from '../store/invoices.ts';
import { periodView } from '../subscriptions/subscription-view.ts';

export function invoiceSummary(invoice: StoredInvoice): InvoiceSummary {
  const { id, subscriptionId, kind, number, status, currency, planId, planVersion } = invoice;
  return {
    ...{ invoice_id: id, subscription_id: subscriptionId, kind, number, status, currency },
    ...{ plan_id: planId, plan_version: planVersion },
    period: periodView({ start: invoice.periodStart, end: invoice.periodEnd }),
    subtotal_minor: String(invoice.subtotalMinor),
    tax_minor: String(invoice.taxMinor),
    total_minor: String(invoice.totalMinor),
    credited_minor: String(invoice.creditedMinor),
    paid_minor: String(invoice.paidMinor),
    refunded_minor: String(invoice.refundedMinor),
    created_at: instantOf(invoice.createdAt),
    finalized_at: instantOrNull(invoice.finalizedAt),
    closed_at: instantOrNull(invoice.closedAt),
  };
}

/** The stored details of a usage line. */
const UsageDetail = z.strictObject({
  included_micros: z.string(),
  tiers: z.array(
    z.strictObject({ up_to: z.int().nullable(), unit_amount_decimal: z.string(), quantity_micros: z.string() }),
  ),
});

export function invoiceLineView({ meter, quantityMicros, tiers, amountMinor }: StoredInvoiceLine): InvoiceLine {
  if (meter === null || quantityMicros === null || tiers === null)
    return { kind: 'base', amount_minor: String(amountMinor) };
  const detail = UsageDetail.parse(JSON.parse(tiers));
  const rated = {
    ...{ meter: Meter.parse(meter), quantityMicros, includedMicros: BigInt(detail.included_micros), amountMinor },
    tiers: detail.tiers.map(({ up_to, unit_amount_decimal, quantity_micros }) => ({
      ...{ upTo: up_to, unitAmountDecimal: unit_amount_decimal, quantityMicros: BigInt(quantity_micros) },
    })),
  };
  return { kind: 'usage', ...ratedMeterView(rated) };
}

export function ratedMeterView({ meter, quantityMicros, includedMicros, tiers, amountMinor }: Rated): RatedMeter {
  return {
    meter,
    quantity: decimalOfMicros(quantityMicros),
    included: decimalOfMicros(includedMicros),
    tiers: tiers.map((tier) => ({
      up_to: tier.upTo,
      unit_amount_decimal: tier.unitAmountDecimal,
      quantity: decimalOfMicros(tier.quantityMicros),
    })),
    amount_minor: String(amountMinor),
  };
}
