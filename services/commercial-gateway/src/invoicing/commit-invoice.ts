import { AppError, type InvoiceId } from '@countersign/contracts';
import type { BillingCaller, BillingDeps } from '../billing-deps.ts';
import { publishInvoiceUpdated } from '../events.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { findInvoice, type StoredInvoice } from '../store/invoices.ts';

/**
 * Returns an invoice of the caller's organisation. Throws NOT_FOUND for an unknown ID and for an invoice of another
 * organisation.
 */
export async function getInvoice(tx: Tx, { orgId }: BillingCaller, id: InvoiceId): Promise<StoredInvoice> {
  const invoice = await findInvoice(tx, orgId, id);
  if (invoice === null) throw new AppError('NOT_FOUND', 'The organisation has no invoice with this id');
  return invoice;
}

/** Returns the part of the total that neither credits nor payments cover. */
export function openMinorOf({ totalMinor, creditedMinor, paidMinor }: StoredInvoice): bigint {
  return totalMinor - creditedMinor - paidMinor;
}

type InvoiceCommit = {
  after: StoredInvoice;
  from: StoredInvoice['status'] | null;
  action: string;
  at: Date;
  details?: Record<string, string>;
};

/** Writes the event and the audit entry of a new or changed invoice. */
export async function commitInvoice(
  tx: Tx,
  deps: BillingDeps,
  { after, from, action, at, details = {} }: InvoiceCommit,
  { orgId, actor, requestId }: BillingCaller,
): Promise<void> {
  await publishInvoiceUpdated(tx, deps, { invoice: after, from });
  const amounts = { currency: after.currency, total_minor: String(after.totalMinor) };
  const act = { scope: orgId, action: `invoice.${action}`, actor, requestId, subject: after.id };
  await recordAudit(
    tx,
    { ...act, verdict: 'allow', details: { from, status: after.status, ...amounts, ...details } },
    at,
  );
}
