import { AppError, type InvoiceId } from '@countersign/contracts';
import { inBillingAccount, type BillingCaller, type BillingDeps } from '../billing-deps.ts';
import { nextInvoiceStatus } from '../billing/invoice-status.ts';
import { paymentEntries } from '../billing/ledger-entries.ts';
import { newLedgerTransactionId } from '../ids.ts';
import type { Tx } from '../store/database.ts';
import { updateInvoice, type StoredInvoice } from '../store/invoices.ts';
import { isPosted, postTransaction } from '../store/ledger.ts';
import { assertCashAmount, type CashMovement } from './cash-amount.ts';
import { commitInvoice, getInvoice, openMinorOf } from './commit-invoice.ts';
import { settleSubscription } from './settle-subscription.ts';

/**
 * Posts a payment of an open invoice. The invoice is paid when nothing is left to pay, and the subscription is active
 * again when it has no other open invoice. A repeated reference changes nothing.
 */
export function recordPayment(deps: BillingDeps, payment: Payment, caller: BillingCaller): Promise<StoredInvoice> {
  return inBillingAccount(deps, caller.orgId, (tx, at) => recordPaymentIn(tx, deps, { ...payment, at }, caller));
}

type Payment = CashMovement & { invoiceId: InvoiceId };

/** Like `recordPayment`, in the caller's transaction, which must hold the lock of the billing account. */
export async function recordPaymentIn(
  tx: Tx,
  deps: BillingDeps,
  { invoiceId, at, ...cash }: Payment & { at: Date },
  caller: BillingCaller,
): Promise<StoredInvoice> {
  const invoice = await getInvoice(tx, caller, invoiceId);
  const key = { orgId: caller.orgId, kind: 'payment', reference: cash.reference } as const;
  const movement = { invoiceId, cashMinor: cash.amountMinor, currency: cash.currency };
  if (await isPosted(tx, key, movement)) return invoice;
  assertOpen(invoice);
  assertCashAmount(invoice, cash, { amountMinor: openMinorOf(invoice), what: 'open amount' });
  const entries = paymentEntries(invoice.currency, cash.amountMinor);
  await postTransaction(tx, {
    id: newLedgerTransactionId(),
    ...key,
    invoiceId,
    reversesId: null,
    entries,
    createdAt: at,
  });
  const after = await payInvoice(tx, invoice, { amountMinor: cash.amountMinor, at });
  const details = { amount_minor: String(cash.amountMinor), reference: cash.reference };
  if (after.status === 'paid') await settleSubscription(tx, deps, { invoice: after, at }, caller);
  await commitInvoice(tx, deps, { after, from: invoice.status, action: 'payment_recorded', at, details }, caller);
  return after;
}

function assertOpen({ status }: StoredInvoice): void {
  if (status === 'open') return;
  throw new AppError('ILLEGAL_TRANSITION', `The invoice is ${status}; a payment requires the status open`, {
    details: { status, allowed_from: ['open'] },
  });
}

function payInvoice(tx: Tx, invoice: StoredInvoice, { amountMinor, at }: { amountMinor: bigint; at: Date }) {
  const paidMinor = invoice.paidMinor + amountMinor;
  const isPaid = openMinorOf(invoice) === amountMinor;
  const closed = isPaid ? { status: nextInvoiceStatus(invoice.status, 'settle'), closedAt: at } : {};
  return updateInvoice(tx, invoice, { paidMinor, ...closed });
}
