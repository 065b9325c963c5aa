import type { InvoiceId } from '@countersign/contracts';
import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import { allocateCredits } from '../billing/allocate-credits.ts';
import { nextInvoiceStatus } from '../billing/invoice-status.ts';
import { chargeEntries, creditApplicationEntries } from '../billing/ledger-entries.ts';
import { newLedgerTransactionId } from '../ids.ts';
import { takeInvoiceNumber } from '../store/billing-accounts.ts';
import { insertCollection } from '../store/collections.ts';
import { listCreditGrants, spendCredits } from '../store/credit-grants.ts';
import type { Tx } from '../store/database.ts';
import { updateInvoice, type StoredInvoice } from '../store/invoices.ts';
import { postTransaction } from '../store/ledger.ts';
import { commitInvoice, getInvoice, openMinorOf } from './commit-invoice.ts';

/**
 * Charges a draft invoice and applies credits to it. Afterwards the invoice is open and scheduled for collection, or
 * paid if credits cover it. Throws ILLEGAL_TRANSITION when the invoice is not a draft.
 */
export function finalizeInvoice(deps: BillingDeps, id: InvoiceId, caller: BillingCaller): Promise<StoredInvoice> {
  return inBillingAccount(deps, caller.orgId, async (tx, at) => {
    const draft = await getInvoice(tx, caller, id);
    const status = nextInvoiceStatus(draft.status, 'finalize');
    const number = await takeInvoiceNumber(tx, caller.orgId);
    await chargeInvoice(tx, draft, at);
    const creditedMinor = await applyCredits(tx, draft, at);
    const open = await updateInvoice(tx, draft, { status, number, creditedMinor, finalizedAt: at });
    const after = openMinorOf(open) > 0n ? open : await settleInvoice(tx, open, at);
    if (after.status === 'open') await insertCollection(tx, { orgId: caller.orgId, invoiceId: id }, at);
    const details = { number: String(number), credited_minor: String(creditedMinor) };
    await commitInvoice(tx, deps, { after, from: draft.status, action: 'finalized', at, details }, caller);
    return after;
  });
}

function settleInvoice(tx: Tx, invoice: StoredInvoice, at: Date): Promise<StoredInvoice> {
  return updateInvoice(tx, invoice, { status: nextInvoiceStatus(invoice.status, 'settle'), closedAt: at });
}

async function chargeInvoice(tx: Tx, invoice: StoredInvoice, createdAt: Date): Promise<void> {
  if (invoice.totalMinor === 0n) return;
  const { orgId, id: invoiceId } = invoice;
  const of = { orgId, kind: 'charge', reference: invoiceId, invoiceId, reversesId: null } as const;
  await postTransaction(tx, { id: newLedgerTransactionId(), ...of, entries: chargeEntries(invoice), createdAt });
}

/** Applies credits to the invoice. Returns the amount that they pay. */
async function applyCredits(tx: Tx, { orgId, id: invoiceId, currency, totalMinor }: StoredInvoice, now: Date) {
  const grants = await listCreditGrants(tx, orgId, currency);
  const allocations = allocateCredits(grants, { amountMinor: totalMinor, currency, now });
  if (allocations.length === 0) return 0n;
  await spendCredits(tx, orgId, allocations);
  const of = { orgId, kind: 'credit_application', reference: invoiceId, invoiceId, reversesId: null } as const;
  const entries = creditApplicationEntries(currency, allocations);
  await postTransaction(tx, { id: newLedgerTransactionId(), ...of, entries, createdAt: now });
  return allocations.reduce((sum, { amountMinor }) => sum + amountMinor, 0n);
}
