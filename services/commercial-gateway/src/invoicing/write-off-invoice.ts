import type { InvoiceId } from '@countersign/contracts';
import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import { nextInvoiceStatus } from '../billing/invoice-status.ts';
import { writeOffEntries } from '../billing/ledger-entries.ts';
import { newLedgerTransactionId } from '../ids.ts';
import { updateInvoice, type StoredInvoice } from '../store/invoices.ts';
import { postTransaction } from '../store/ledger.ts';
import { commitInvoice, getInvoice } from './commit-invoice.ts';

/** Marks an open invoice as uncollectible and writes its open amount off. */
export function writeOffInvoice(deps: BillingDeps, id: InvoiceId, caller: BillingCaller): Promise<StoredInvoice> {
  return inBillingAccount(deps, caller.orgId, async (tx, at) => {
    const invoice = await getInvoice(tx, caller, id);
    const status = nextInvoiceStatus(invoice.status, 'write_off');
    const entries = writeOffEntries({ ...invoice, settledMinor: invoice.creditedMinor + invoice.paidMinor });
    const of = { orgId: caller.orgId, kind: 'write_off', reference: id, invoiceId: id, reversesId: null } as const;
    await postTransaction(tx, { id: newLedgerTransactionId(), ...of, entries, createdAt: at });
    const after = await updateInvoice(tx, invoice, { status, closedAt: at });
    await commitInvoice(tx, deps, { after, from: invoice.status, action: 'written_off', at }, caller);
    return after;
  });
}
