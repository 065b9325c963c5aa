import type { Meter, PlanVersion } from '@countersign/contracts/commercial-gateway';
import { divideHalfUp, scaledOfDecimal } from './decimal.ts';
import { prorate, type PartOfPeriod } from './prorate.ts';
import { rateUsage, type RatedMeter, type Usage } from './rate-usage.ts';

export type InvoiceLine =
  | { kind: 'base'; amountMinor: bigint }
  | ({ kind: 'usage'; meter: Meter } & Pick<RatedMeter, 'quantityMicros' | 'includedMicros' | 'tiers' | 'amountMinor'>);

export type AssembledInvoice = { lines: InvoiceLine[]; subtotalMinor: bigint; taxMinor: bigint; totalMinor: bigint };

/** `period` is the monthly period of the subscription, and `part` the time that the invoice bills. */
type BillablePeriod = PartOfPeriod & {
  usage: Usage;
  /** Tax in percent as a decimal string, such as `19` or `8.1`. `null` when no tax applies. */
  taxPercent: string | null;
};

/** Amounts on the wire are JSON numbers or fit into one; larger totals are rejected and never truncated. */
const totalMinorMax = 10n ** 15n;
const percentDigits = 4;

/**
 * The lines and totals of one invoice: the prorated base price, then one line per meter that was used. Tax is rounded once, on the
 * subtotal. The same function gives the upcoming invoice of a period in progress. Throws RangeError for a total over the limit.
 */
export function assembleInvoice(
  plan: PlanVersion,
  { period, part, usage, taxPercent }: BillablePeriod,
): AssembledInvoice {
  const baseMinor = prorate(BigInt(plan.base_minor), { period, part });
  const base: InvoiceLine[] = plan.base_minor === 0 ? [] : [{ kind: 'base', amountMinor: baseMinor }];
  const rated = rateUsage(plan, usage, { period, part });
  const lines = [...base, ...rated.meters.map((meter): InvoiceLine => ({ kind: 'usage', ...meter }))];
  const subtotalMinor = baseMinor + rated.totalMinor;
  const taxMinor = taxPercent === null ? 0n : taxOf(subtotalMinor, taxPercent);
  const totalMinor = subtotalMinor + taxMinor;
  if (totalMinor > totalMinorMax) throw new RangeError(`The invoice total ${totalMinor} is over ${totalMinorMax}`);
  return { lines, subtotalMinor, taxMinor, totalMinor };
}

function taxOf(subtotalMinor: bigint, taxPercent: string): bigint {
  return divideHalfUp(subtotalMinor * scaledOfDecimal(taxPercent, percentDigits), 100n * 10n ** BigInt(percentDigits));
}
