import { AppError, type InvoiceId } from '@countersign/contracts';
import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import { paymentEntries, refundEntries, reversalEntries } from '../billing/ledger-entries.ts';
import { newLedgerTransactionId } from '../ids.ts';
import type { Tx } from '../store/database.ts';
import { updateInvoice, type StoredInvoice } from '../store/invoices.ts';
import { isPosted, postTransaction } from '../store/ledger.ts';
import { assertCashAmount, type CashMovement } from './cash-amount.ts';
import { commitInvoice, getInvoice } from './commit-invoice.ts';

/**
 * Posts a refund of a paid invoice, up to the paid amount that is not refunded yet. A repeated reference changes
 * nothing.
 */
export function recordRefund(deps: BillingDeps, refund: Refund, caller: BillingCaller): Promise<StoredInvoice> {
  return inBillingAccount(deps, caller.orgId, (tx, at) => recordRefundIn(tx, deps, { ...refund, at }, caller));
}

type Refund = CashMovement & { invoiceId: InvoiceId };

type RefundAt = Refund & { at: Date };

/** Like `recordRefund`, in the caller's transaction, which must hold the lock of the billing account. */
export async function recordRefundIn(
  tx: Tx,
  deps: BillingDeps,
  refund: RefundAt,
  caller: BillingCaller,
): Promise<StoredInvoice> {
  const invoice = await getInvoice(tx, caller, refund.invoiceId);
  if (await isRefundPosted(tx, refund, caller)) return invoice;
  assertPaid(invoice);
  return await postRefund(tx, deps, { invoice, refund }, caller);
}

/**
 * Posts a refund that a provider has made, also for an invoice that is not fully paid. An open invoice owes the amount
 * again. A repeated reference changes nothing.
 */
export async function returnPaymentIn(
  tx: Tx,
  deps: BillingDeps,
  refund: RefundAt,
  caller: BillingCaller,
): Promise<StoredInvoice> {
  const invoice = await getInvoice(tx, caller, refund.invoiceId);
  if (await isRefundPosted(tx, refund, caller)) return invoice;
  return await postRefund(tx, deps, { invoice, refund }, caller);
}

function isRefundPosted(tx: Tx, { invoiceId, ...cash }: RefundAt, { orgId }: BillingCaller): Promise<boolean> {
  const key = { orgId, kind: 'refund', reference: cash.reference } as const;
  return isPosted(tx, key, { invoiceId, cashMinor: -cash.amountMinor, currency: cash.currency });
}

type Returned = { invoice: StoredInvoice; refund: RefundAt };

async function postRefund(
  tx: Tx,
  deps: BillingDeps,
  { invoice, refund: { invoiceId, at, ...cash } }: Returned,
  caller: BillingCaller,
): Promise<StoredInvoice> {
  const { amountMinor, currency, reference } = cash;
  const { paidMinor, refundedMinor } = invoice;
  assertCashAmount(invoice, cash, { amountMinor: paidMinor - refundedMinor, what: 'amount that is not refunded' });
  const isOwedAgain = invoice.status === 'open';
  const entries = isOwedAgain
    ? reversalEntries(paymentEntries(currency, amountMinor))
    : refundEntries(invoice, amountMinor);
  const of = { orgId: caller.orgId, kind: 'refund', reference, invoiceId, reversesId: null } as const;
  await postTransaction(tx, { id: newLedgerTransactionId(), ...of, entries, createdAt: at });
  const change = isOwedAgain ? { paidMinor: paidMinor - amountMinor } : { refundedMinor: refundedMinor + amountMinor };
  const after = await updateInvoice(tx, invoice, change);
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
