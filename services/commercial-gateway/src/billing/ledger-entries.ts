import type { LedgerAccount } from '@countersign/contracts/commercial-gateway';
import { divideHalfUp } from './decimal.ts';
import type { CreditAllocation } from './allocate-credits.ts';

/** One side of a ledger transaction. A debit is positive, a credit is negative. */
export type LedgerEntry = {
  account: LedgerAccount;
  currency: string;
  amountMinor: bigint;
  /** The credit grant of an entry in `credits`. `null` in all other accounts. */
  creditGrantId: string | null;
};

type InvoiceAmounts = { currency: string; subtotalMinor: bigint; taxMinor: bigint; totalMinor: bigint };

/** The organisation owes the invoice. */
export function chargeEntries({ currency, subtotalMinor, taxMinor, totalMinor }: InvoiceAmounts): LedgerEntry[] {
  return entriesOf(currency, { receivable: totalMinor, revenue: -subtotalMinor, tax: -taxMinor });
}

/** Cash pays a part of the receivable. */
export function paymentEntries(currency: string, amountMinor: bigint): LedgerEntry[] {
  return entriesOf(currency, { cash: amountMinor, receivable: -amountMinor });
}

/** A part of a payment is returned. Revenue and tax decrease in the same proportion as in the invoice. */
export function refundEntries(invoice: InvoiceAmounts & { refundedMinor: bigint }, amountMinor: bigint): LedgerEntry[] {
  const tax = taxShare(invoice, { from: invoice.refundedMinor, to: invoice.refundedMinor + amountMinor });
  return entriesOf(invoice.currency, { revenue: amountMinor - tax, tax, cash: -amountMinor });
}

/** Money that was kept as a purchased credit is returned. */
export function creditRefundEntries(grant: GrantAmount): LedgerEntry[] {
  return [creditEntry(grant, grant.amountMinor), ...entriesOf(grant.currency, { cash: -grant.amountMinor })];
}

/** The open part of an uncollectible invoice is written off. */
export function writeOffEntries(invoice: InvoiceAmounts & { settledMinor: bigint }): LedgerEntry[] {
  const { currency, totalMinor, settledMinor } = invoice;
  const tax = taxShare(invoice, { from: settledMinor, to: totalMinor });
  const openMinor = totalMinor - settledMinor;
  return entriesOf(currency, { revenue: openMinor - tax, tax, receivable: -openMinor });
}

type GrantAmount = { id: string; currency: string; amountMinor: bigint };

/** A promotional grant reduces revenue when it is created. A purchased grant is paid in cash. */
export function creditGrantEntries(kind: 'promotional' | 'purchased', grant: GrantAmount): LedgerEntry[] {
  const paidFrom = kind === 'purchased' ? 'cash' : 'revenue';
  return [...entriesOf(grant.currency, { [paidFrom]: grant.amountMinor }), creditEntry(grant, -grant.amountMinor)];
}

/** Credits pay a part of the receivable. */
export function creditApplicationEntries(
  currency: string,
  allocations: readonly CreditAllocation<{ id: string; currency: string }>[],
): LedgerEntry[] {
  const appliedMinor = allocations.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
  const spent = allocations.map(({ grant, amountMinor }) => creditEntry(grant, amountMinor));
  return [...spent, ...entriesOf(currency, { receivable: -appliedMinor })];
}

/** The unused rest of an expired grant becomes revenue. */
export function creditExpiryEntries(grant: { id: string; currency: string; remainingMinor: bigint }): LedgerEntry[] {
  return [creditEntry(grant, grant.remainingMinor), ...entriesOf(grant.currency, { revenue: -grant.remainingMinor })];
}

/** Returns the same entries with the opposite sign. */
export function reversalEntries(entries: readonly LedgerEntry[]): LedgerEntry[] {
  return entries.map((entry) => ({ ...entry, amountMinor: -entry.amountMinor }));
}

/**
 * Throws for fewer than two entries, and when they do not sum to zero in each currency. The database checks the sums
 * again at commit.
 */
export function assertBalanced(entries: readonly LedgerEntry[]): void {
  const sums = new Map<string, bigint>();
  for (const { currency, amountMinor } of entries) sums.set(currency, (sums.get(currency) ?? 0n) + amountMinor);
  const unbalanced = [...sums].filter(([, sum]) => sum !== 0n).map(([currency]) => currency);
  if (entries.length < 2 || unbalanced.length > 0)
    throw new Error(
      `The ledger entries are not balanced${unbalanced.length > 0 ? ` in ${unbalanced.join(', ')}` : ''}`,
    );
}

/**
 * Returns the tax on the part of the total between the amounts `from` and `to`. Consecutive parts add up to the tax of
 * the invoice.
 */
function taxShare({ taxMinor, totalMinor }: InvoiceAmounts, { from, to }: { from: bigint; to: bigint }): bigint {
  const taxUpTo = (amountMinor: bigint) => divideHalfUp(taxMinor * amountMinor, totalMinor);
  return taxUpTo(to) - taxUpTo(from);
}

function entriesOf(currency: string, amounts: Partial<Record<LedgerAccount, bigint>>): LedgerEntry[] {
  return Object.entries(amounts)
    .filter(([, amountMinor]) => amountMinor !== 0n)
    .map(([account, amountMinor]) => ({
      account: account as LedgerAccount,
      currency,
      amountMinor,
      creditGrantId: null,
    })); // the keys are accounts
}

function creditEntry({ id, currency }: { id: string; currency: string }, amountMinor: bigint): LedgerEntry {
  return { account: 'credits', currency, amountMinor, creditGrantId: id };
}
