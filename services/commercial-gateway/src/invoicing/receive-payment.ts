import type { InvoiceId } from '@countersign/contracts';
import type { BillingCaller, BillingDeps } from '../billing-deps.ts';
import type { Tx } from '../store/database.ts';
import { findTransaction } from '../store/ledger.ts';
import type { CashMovement } from './cash-amount.ts';
import { getInvoice, openMinorOf } from './commit-invoice.ts';
import { grantCreditIn } from './grant-credit.ts';
import { recordPaymentIn } from './record-payment.ts';

type ReceivedPayment = CashMovement & { invoiceId: InvoiceId; at: Date };

/**
 * Posts a payment that a provider has received. The payment covers the open amount of the invoice. The rest becomes a
 * purchased credit, such as when the invoice was paid twice or is void. A repeated reference changes nothing. The
 * caller must hold the lock of the billing account.
 */
export async function receivePaymentIn(
  tx: Tx,
  deps: BillingDeps,
  { invoiceId, amountMinor, currency, reference, at }: ReceivedPayment,
  caller: BillingCaller,
): Promise<void> {
  const { orgId } = caller;
  const excessReference = excessReferenceOf(reference);
  if ((await findTransaction(tx, { orgId, kind: 'payment', reference })) !== null) return;
  if ((await findTransaction(tx, { orgId, kind: 'credit_grant', reference: excessReference })) !== null) return;
  const invoice = await getInvoice(tx, caller, invoiceId);
  const isPayable = invoice.status === 'open' && invoice.currency === currency;
  const openMinor = isPayable ? openMinorOf(invoice) : 0n;
  const paidMinor = amountMinor < openMinor ? amountMinor : openMinor;
  if (paidMinor > 0n)
    await recordPaymentIn(tx, deps, { invoiceId, amountMinor: paidMinor, currency, reference, at }, caller);
  const excessMinor = amountMinor - paidMinor;
  if (excessMinor === 0n) return;
  const reason = `Payment ${reference} exceeds the open amount of invoice ${invoiceId}`;
  const terms = { kind: 'purchased', currency, amountMinor: excessMinor, expiresAt: null, reason } as const;
  await grantCreditIn(tx, deps, { ...terms, reference: excessReference, at }, caller);
}

/** The reference of the credit for the part of a payment that exceeds the invoice. */
export function excessReferenceOf(paymentReference: string): string {
  return `payment:${paymentReference}`;
}
