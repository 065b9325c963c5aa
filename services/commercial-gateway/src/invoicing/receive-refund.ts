import type { InvoiceId } from '@countersign/contracts';
import type { BillingCaller, BillingDeps } from '../billing-deps.ts';
import { creditRefundEntries } from '../billing/ledger-entries.ts';
import { publishCreditGrantUpdated } from '../events.ts';
import { newLedgerTransactionId } from '../ids.ts';
import { recordAudit } from '../store/audit.ts';
import { spendCredits, type StoredCreditGrant } from '../store/credit-grants.ts';
import type { Tx } from '../store/database.ts';
import { findTransaction, postTransaction } from '../store/ledger.ts';
import { auditCreditGrant } from './audit-credit-grant.ts';
import type { CashMovement } from './cash-amount.ts';
import { getInvoice } from './commit-invoice.ts';
import { findGrantOf } from './grant-credit.ts';
import { excessReferenceOf } from './receive-payment.ts';
import { returnPaymentIn } from './record-refund.ts';

type ReceivedRefund = CashMovement & {
  invoiceId: InvoiceId;
  /** The payment in the ledger that was refunded. `null` when the payment is unknown. */
  paymentReference: string | null;
  at: Date;
};

/**
 * Posts a refund that a provider made without a request of this service. If the payment exceeded its invoice, the
 * credit for the excess is reduced first, because it could still be spent. The rest reduces the paid amount of the
 * invoice, and an open invoice owes it again. An amount beyond both is recorded in the audit log for a person to
 * resolve. A repeated reference changes nothing.
 */
export async function receiveRefundIn(
  tx: Tx,
  deps: BillingDeps,
  { invoiceId, paymentReference, at, ...cash }: ReceivedRefund,
  caller: BillingCaller,
): Promise<void> {
  const { orgId } = caller;
  const { amountMinor, currency, reference } = cash;
  for (const posted of [reference, creditReferenceOf(reference)])
    if ((await findTransaction(tx, { orgId, kind: 'refund', reference: posted })) !== null) return;
  const grant = paymentReference === null ? null : await findGrantOf(tx, orgId, excessReferenceOf(paymentReference));
  const creditMinor = grant?.currency === currency ? lesser(amountMinor, grant.remainingMinor) : 0n;
  if (grant !== null && creditMinor > 0n)
    await refundCreditIn(tx, deps, { grant, amountMinor: creditMinor, reference, at }, caller);
  const { currency: invoiced, paidMinor, refundedMinor } = await getInvoice(tx, caller, invoiceId);
  const refundableMinor = invoiced === currency ? paidMinor - refundedMinor : 0n;
  const invoiceMinor = lesser(amountMinor - creditMinor, refundableMinor);
  if (invoiceMinor > 0n)
    await returnPaymentIn(tx, deps, { invoiceId, amountMinor: invoiceMinor, currency, reference, at }, caller);
  const unmatchedMinor = amountMinor - creditMinor - invoiceMinor;
  if (unmatchedMinor > 0n)
    await auditUnmatchedIn(tx, { invoiceId, amountMinor: unmatchedMinor, currency, reference, at }, caller);
}

type CreditRefund = { grant: StoredCreditGrant; amountMinor: bigint; reference: string; at: Date };

async function refundCreditIn(
  tx: Tx,
  deps: BillingDeps,
  { grant, amountMinor, reference, at }: CreditRefund,
  caller: BillingCaller,
): Promise<void> {
  const { orgId } = caller;
  await spendCredits(tx, orgId, [{ grant, amountMinor }]);
  await postTransaction(tx, {
    ...{ id: newLedgerTransactionId(), orgId, kind: 'refund', reference: creditReferenceOf(reference) },
    ...{ invoiceId: null, reversesId: null, createdAt: at },
    entries: creditRefundEntries({ ...grant, amountMinor }),
  });
  const after = { ...grant, remainingMinor: grant.remainingMinor - amountMinor };
  await publishCreditGrantUpdated(tx, deps, after);
  await auditCreditGrant(tx, after, { action: 'refunded', caller, at });
}

type Unmatched = CashMovement & { invoiceId: InvoiceId; at: Date };

async function auditUnmatchedIn(
  tx: Tx,
  { invoiceId, amountMinor, currency, reference, at }: Unmatched,
  { orgId, actor, requestId }: BillingCaller,
): Promise<void> {
  const details = { amount_minor: String(amountMinor), currency, reference };
  const act = { scope: orgId, action: 'refund.unmatched', actor, requestId, subject: invoiceId, details } as const;
  await recordAudit(tx, { ...act, verdict: 'deny' }, at);
}

function creditReferenceOf(reference: string): string {
  return `credit:${reference}`;
}

function lesser(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
