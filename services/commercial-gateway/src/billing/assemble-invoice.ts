import type { Meter, PlanVersion } from '@countersign/contracts/commercial-gateway';
import { divideHalfUp, scaledOfDecimal } from './decimal.ts';
import { prorate, type PartOfPeriod } from './prorate.ts';
import { rateAddedUsage, rateUsage, type RatedMeter, type Usage } from './rate-usage.ts';

export type InvoiceLine =
  | { kind: 'base'; amountMinor: bigint }
  | ({ kind: 'usage'; meter: Meter } & Pick<RatedMeter, 'quantityMicros' | 'includedMicros' | 'tiers' | 'amountMinor'>);

export type AssembledInvoice = { lines: InvoiceLine[]; subtotalMinor: bigint; taxMinor: bigint; totalMinor: bigint };

/** `period` is the monthly period of the subscription. `span` is the time that the invoice bills. */
type BillablePeriod = PartOfPeriod & {
  usage: Usage;
  /** Tax in percent as a decimal string, such as `19` or `8.1`. `null` when no tax applies. */
  taxPercent: string | null;
};

/**
 * The largest total of an invoice. BIGINT columns hold up to 9.2 × 10^18. The limit on submitted usage keeps the
 * invoices of every plan of the catalogue below this total.
 */
export const totalMinorMax = 10n ** 18n;
const percentDigits = 4;

/**
 * The lines and totals of one invoice: the prorated base price, then one line per used meter. Tax is rounded once, on
 * the subtotal. This function also computes the upcoming invoice of a period in progress. Throws RangeError for a total
 * over the limit.
 */
export function assembleInvoice(
  plan: PlanVersion,
  { period, span, usage, taxPercent }: BillablePeriod,
): AssembledInvoice {
  const baseMinor = prorate(BigInt(plan.base_minor), { period, span });
  const base: InvoiceLine[] = plan.base_minor === 0 ? [] : [{ kind: 'base', amountMinor: baseMinor }];
  const rated = rateUsage(plan, usage, { period, span });
  return totalled([...base, ...rated.meters.map(usageLine)], taxPercent);
}

/**
 * The invoice of usage that arrived after the last period of a canceled subscription was billed. It has no base price.
 */
export function assembleLateInvoice(
  plan: PlanVersion,
  {
    period,
    span,
    billed,
    added,
    taxPercent,
  }: PartOfPeriod & { billed: Usage; added: Usage; taxPercent: string | null },
): AssembledInvoice {
  return totalled(rateAddedUsage(plan, { billed, added }, { period, span }).meters.map(usageLine), taxPercent);
}

function usageLine(meter: RatedMeter): InvoiceLine {
  return { kind: 'usage', ...meter };
}

function totalled(lines: InvoiceLine[], taxPercent: string | null): AssembledInvoice {
  const subtotalMinor = lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  const taxMinor = taxPercent === null ? 0n : taxOf(subtotalMinor, taxPercent);
  const totalMinor = subtotalMinor + taxMinor;
  if (totalMinor > totalMinorMax) throw new RangeError(`The invoice total ${totalMinor} is over ${totalMinorMax}`);
  return { lines, subtotalMinor, taxMinor, totalMinor };
}

function taxOf(subtotalMinor: bigint, taxPercent: string): bigint {
  return divideHalfUp(subtotalMinor * scaledOfDecimal(taxPercent, percentDigits), 100n * 10n ** BigInt(percentDigits));
}
