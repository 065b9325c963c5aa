import { previousPeriodsMax, type UsageReport } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { monthlyPeriod, type Period } from '../billing/period.ts';
import { rateUsage, type RatedMeter } from '../billing/rate-usage.ts';
import { sumBilledUsage } from '../store/billed-usage.ts';
import type { Reader } from '../store/database.ts';
import { listInvoicedPeriods } from '../store/invoices.ts';
import { findCurrentSubscription } from '../store/subscriptions.ts';
import { findUsageHead } from '../store/usage-events.ts';
import { periodView } from '../subscriptions/subscription-view.ts';
import { periodInProgress } from './bill-period.ts';
import { invoiceLineView, ratedMeterView } from './invoice-view.ts';
import { previewInvoice } from './preview-invoice.ts';

/**
 * Returns the usage of the current period at the price of its future invoice, and the usage of the invoiced periods.
 */
export async function reportUsage(reader: Reader, orgId: OrgId, now: Date): Promise<UsageReport> {
  const { period, currency, meters } = await currentUsage(reader, orgId, now);
  return {
    period: periodView(period),
    currency,
    meters: meters.map(ratedMeterView),
    usage_minor: String(meters.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)),
    previous: await previousPeriods(reader, orgId),
  };
}

type CurrentUsage = { period: Period; currency: string | null; meters: RatedMeter[] };

async function currentUsage(reader: Reader, orgId: OrgId, now: Date): Promise<CurrentUsage> {
  const preview = await previewInvoice(reader, orgId, null);
  if (preview !== null) {
    const meters = preview.lines.flatMap((line) => (line.kind === 'usage' ? [line] : []));
    return { period: periodInProgress(preview.subscription), currency: preview.currency, meters };
  }
  const subscription = await findCurrentSubscription(reader, orgId);
  const period = subscription === null ? calendarMonth(now) : periodInProgress(subscription);
  return { period, currency: null, meters: await freeUsage(reader, orgId, period) };
}

/** Reports usage without a price: without a billed subscription, or on a plan without a price. */
async function freeUsage(reader: Reader, orgId: OrgId, { start, end }: Period): Promise<RatedMeter[]> {
  const { lastSeq } = await findUsageHead(reader, orgId);
  const bounds = { usageFrom: start, periodEnd: end, usageSeq: lastSeq, billedSeq: 0n, billedUntil: null };
  return rateUsage({ meters: [] }, await sumBilledUsage(reader, orgId, bounds), null).meters;
}

function calendarMonth(now: Date): Period {
  return monthlyPeriod(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)), 0);
}

async function previousPeriods(reader: Reader, orgId: OrgId): Promise<UsageReport['previous']> {
  const periods = await listInvoicedPeriods(reader, orgId, previousPeriodsMax);
  return periods.map(({ invoice, lines }) => ({
    invoice_id: invoice.id,
    period: periodView({ start: invoice.periodStart, end: invoice.periodEnd }),
    currency: invoice.currency,
    subtotal_minor: String(invoice.subtotalMinor),
    meters: lines.map(invoiceLineView).flatMap((line) => {
      if (line.kind === 'base') return [];
      const { kind: _, ...meter } = line;
      return [meter];
    }),
  }));
}
