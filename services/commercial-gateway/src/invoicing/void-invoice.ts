import { AppError, InvoiceId } from '@countersign/contracts';
import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import { nextInvoiceStatus } from '../billing/invoice-status.ts';
import { reversalEntries, type LedgerEntry } from '../billing/ledger-entries.ts';
import { newLedgerTransactionId } from '../ids.ts';
import { restoreCredits } from '../store/credit-grants.ts';
import type { Tx } from '../store/database.ts';
import { updateInvoice, type StoredInvoice } from '../store/invoices.ts';
import { findTransaction, postTransaction, type PostedTransaction } from '../store/ledger.ts';
import { commitInvoice, getInvoice } from './commit-invoice.ts';
import { settleSubscription } from './settle-subscription.ts';

/**
 * Voids an open invoice: reverses its charge, and returns its credits to their grants. The subscription becomes active
 * again when no other invoice is open. Throws ILLEGAL_TRANSITION when the invoice is not open or has payments.
 */
export function voidInvoice(deps: BillingDeps, id: InvoiceId, caller: BillingCaller): Promise<StoredInvoice> {
  return inBillingAccount(deps, caller.orgId, async (tx, at) => {
    const invoice = await getInvoice(tx, caller, id);
    const status = nextInvoiceStatus(invoice.status, 'void');
    if (invoice.paidMinor > 0n)
      throw new AppError(
        'ILLEGAL_TRANSITION',
        'The invoice has payments and cannot be voided. Refund it after it is paid',
      );
    for (const kind of ['charge', 'credit_application'] as const) {
      const posted = await findTransaction(tx, { orgId: caller.orgId, kind, reference: id });
      if (posted !== null) await reverse(tx, posted, { caller, at });
    }
    const after = await updateInvoice(tx, invoice, { status, creditedMinor: 0n, closedAt: at });
    await settleSubscription(tx, deps, { invoice: after, at }, caller);
    await commitInvoice(tx, deps, { after, from: invoice.status, action: 'voided', at }, caller);
    return after;
  });
}

async function reverse(
  tx: Tx,
  posted: PostedTransaction,
  { caller: { orgId }, at }: { caller: BillingCaller; at: Date },
): Promise<void> {
  const entries = reversalEntries(posted.entries.map(entryOf));
  for (const { creditGrantId, amountMinor } of entries)
    if (creditGrantId !== null) await restoreCredits(tx, orgId, { id: creditGrantId, amountMinor: -amountMinor });
  const invoiceId = posted.invoiceId === null ? null : InvoiceId.parse(posted.invoiceId);
  const of = { orgId, kind: 'reversal', reference: posted.id, invoiceId, reversesId: posted.id } as const;
  await postTransaction(tx, { id: newLedgerTransactionId(), ...of, entries, createdAt: at });
}

function entryOf({ account, currency, amountMinor, creditGrantId }: PostedTransaction['entries'][number]): LedgerEntry {
  return { account: account as LedgerEntry['account'], currency, amountMinor, creditGrantId }; // only accounts are stored
}
