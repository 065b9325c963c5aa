import { AppError, type InvoiceId } from '@countersign/contracts';
import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import { refundEntries } from '../billing/ledger-entries.ts';
import { newLedgerTransactionId } from '../ids.ts';
import type { Tx } from '../store/database.ts';
import { updateInvoice, type StoredInvoice } from '../store/invoices.ts';
import { isPosted, postTransaction } from '../store/ledger.ts';
import { assertCashAmount, type CashMovement } from './cash-amount.ts';
import { commitInvoice, getInvoice } from './commit-invoice.ts';

/** Posts a refund of a paid invoice, up to the paid amount. A repeated reference changes nothing. */
export function recordRefund(deps: BillingDeps, refund: Refund, caller: BillingCaller): Promise<StoredInvoice> {
  return inBillingAccount(deps, caller.orgId, (tx, at) => recordRefundIn(tx, deps, { ...refund, at }, caller));
}

type Refund = CashMovement & { invoiceId: InvoiceId };

/** The same in the transaction of the caller, which holds the lock of the billing account. */
export async function recordRefundIn(
  tx: Tx,
  deps: BillingDeps,
  { invoiceId, at, ...cash }: Refund & { at: Date },
  caller: BillingCaller,
): Promise<StoredInvoice> {
  const invoice = await getInvoice(tx, caller, invoiceId);
  const key = { orgId: caller.orgId, kind: 'refund', reference: cash.reference } as const;
  const movement = { invoiceId, cashMinor: -cash.amountMinor, currency: cash.currency };
  if (await isPosted(tx, key, movement)) return invoice;
  assertPaid(invoice);
  const refundable = { amountMinor: invoice.paidMinor - invoice.refundedMinor, what: 'amount that is not refunded' };
  assertCashAmount(invoice, cash, refundable);
  const entries = refundEntries(invoice, cash.amountMinor);
  await postTransaction(tx, {
    id: newLedgerTransactionId(),
    ...key,
    invoiceId,
    reversesId: null,
    entries,
    createdAt: at,
  });
  const after = await updateInvoice(tx, invoice, { refundedMinor: invoice.refundedMinor + cash.amountMinor });
  const details = { amount_minor: String(cash.amountMinor), reference: cash.reference };
  await commitInvoice(tx, deps, { after, from: invoice.status, action: 'refund_recorded', at, details }, caller);
  return after;
}

function assertPaid({ status }: StoredInvoice): void {
  if (status === 'paid') return;
  throw new AppError('ILLEGAL_TRANSITION', `The invoice is ${status}; a refund requires the status paid`, {
    details: { status, allowed_from: ['paid'] },
  });
}
