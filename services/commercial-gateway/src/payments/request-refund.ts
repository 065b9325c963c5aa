import { AppError, type InvoiceId } from '@countersign/contracts';
import { inBillingAccount, type BillingCaller } from '../billing-deps.ts';
import { assertCashAmount } from '../invoicing/cash-amount.ts';
import { getInvoice } from '../invoicing/commit-invoice.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import type { StoredInvoice } from '../store/invoices.ts';
import { listPayments } from '../store/ledger.ts';
import {
  findRefund,
  insertRefund,
  sumPendingRefunds,
  sumRefundsByPayment,
  type StoredRefund,
} from '../store/refunds.ts';
import type { PaymentDeps } from './payment-deps.ts';
import { providerReferenceOf } from './provider-reference.ts';

type RequestedRefund = { invoiceId: InvoiceId; amountMinor: bigint; currency: string; reference: string };

/**
 * Requests the refund of a part of a paid invoice, once per reference. A worker refunds it at the provider that
 * received the payment. Throws INVALID_REQUEST for an amount over the unrefunded amount and for a different currency.
 * Throws ILLEGAL_TRANSITION when the invoice is not paid, or no single payment covers the amount. Throws
 * IDEMPOTENCY_KEY_REUSED for a reference of a different refund.
 */
export function requestRefund(
  deps: PaymentDeps,
  { invoiceId, reference, ...amount }: RequestedRefund,
  caller: BillingCaller,
): Promise<StoredRefund> {
  const { orgId, actor, requestId } = caller;
  return inBillingAccount(deps, orgId, async (tx, at) => {
    const earlier = await findRefund(tx, { orgId, reference });
    if (earlier !== null) return requireSame(earlier, { invoiceId, reference, ...amount });
    const invoice = await getInvoice(tx, caller, invoiceId);
    await assertRefundable(tx, invoice, { ...amount, reference });
    const payment = await findPaymentIn(tx, invoice, amount.amountMinor);
    const refund: StoredRefund = {
      ...{ orgId, reference, invoiceId, ...amount, paymentReference: payment.reference },
      ...{ provider: payment.provider, status: 'pending', failureCode: null },
      ...{ nextAt: at, createdBy: actor, createdAt: at },
    };
    await insertRefund(tx, refund);
    const details = { amount_minor: String(amount.amountMinor), currency: amount.currency, reference };
    const act = { scope: orgId, action: 'refund.requested', actor, requestId, subject: invoiceId, details } as const;
    await recordAudit(tx, { ...act, verdict: 'allow' }, at);
    return refund;
  });
}

async function assertRefundable(
  tx: Tx,
  invoice: StoredInvoice,
  cash: Omit<RequestedRefund, 'invoiceId'>,
): Promise<void> {
  if (invoice.status !== 'paid')
    throw new AppError('ILLEGAL_TRANSITION', `The invoice is ${invoice.status}; a refund requires the status paid`, {
      details: { status: invoice.status, allowed_from: ['paid'] },
    });
  const pendingMinor = await sumPendingRefunds(tx, invoice.orgId, invoice.id);
  const amountMinor = invoice.paidMinor - invoice.refundedMinor - pendingMinor;
  assertCashAmount(invoice, cash, { amountMinor, what: 'amount that is not refunded' });
}

/**
 * Finds a payment of the invoice with an unrefunded amount that covers the refund. Returns its provider and its
 * reference there.
 */
async function findPaymentIn(tx: Tx, { orgId, id }: StoredInvoice, amountMinor: bigint) {
  const refunded = await sumRefundsByPayment(tx, orgId, id);
  for (const { reference, cashMinor } of await listPayments(tx, orgId, id)) {
    const place = providerReferenceOf(reference);
    if (place !== null && cashMinor - (refunded.get(place.reference) ?? 0n) >= amountMinor) return place;
  }
  throw new AppError(
    'ILLEGAL_TRANSITION',
    'No payment of the invoice covers the amount. Refund less, or grant a credit',
    {
      details: { allowed: ['grant_credit'] },
    },
  );
}

function requireSame(refund: StoredRefund, requested: RequestedRefund): StoredRefund {
  const { invoiceId, amountMinor, currency } = refund;
  if (invoiceId === requested.invoiceId && amountMinor === requested.amountMinor && currency === requested.currency)
    return refund;
  throw new AppError('IDEMPOTENCY_KEY_REUSED', 'The reference was used for another refund. Use a new one', {
    param: 'reference',
  });
}
