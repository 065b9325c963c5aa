import { InvoiceId, SubscriptionId } from '@countersign/contracts';
import { BillingPlanId, InvoiceKind, InvoiceStatus } from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { canonicalize } from '@countersign/crypto';
import type { InvoiceLine } from '../billing/assemble-invoice.ts';
import type { InvoiceLineModel, InvoiceModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';
import { pageOf, readCursor, type PageOf } from './page-cursor.ts';

export type StoredInvoice = Omit<InvoiceModel, 'id' | 'orgId' | 'subscriptionId' | 'planId' | 'kind' | 'status'> & {
  id: InvoiceId;
  orgId: OrgId;
  subscriptionId: SubscriptionId;
  planId: BillingPlanId;
  kind: InvoiceKind;
  status: InvoiceStatus;
};

export type StoredInvoiceLine = InvoiceLineModel;

export async function insertInvoice(tx: Tx, invoice: StoredInvoice, lines: readonly InvoiceLine[]): Promise<void> {
  await tx.invoice.create({ data: invoice });
  const { id: invoiceId, orgId } = invoice;
  await tx.invoiceLine.createMany({
    data: lines.map((line, index) => ({ ...rowOf(line), invoiceId, orgId, position: index + 1 })),
  });
}

/**
 * Reads an invoice. A caller that changes the invoice must hold the lock of the billing account, so that the invoice
 * does not change until the transaction ends.
 */
export async function findInvoice(reader: Reader, orgId: OrgId, id: InvoiceId): Promise<StoredInvoice | null> {
  const row = await reader.invoice.findFirst({ where: { orgId, id } });
  return row === null ? null : invoiceOf(row);
}

/** Returns the invoice that bills the latest usage of a subscription. */
export async function findLastInvoice(
  reader: Reader,
  orgId: OrgId,
  subscriptionId: SubscriptionId,
): Promise<StoredInvoice | null> {
  const where = { orgId, subscriptionId };
  const row = await reader.invoice.findFirst({ where, orderBy: [{ periodEnd: 'desc' }, { usageSeq: 'desc' }] });
  return row === null ? null : invoiceOf(row);
}

export async function listInvoiceLines(
  reader: Reader,
  orgId: OrgId,
  invoiceId: InvoiceId,
): Promise<InvoiceLineModel[]> {
  return reader.invoiceLine.findMany({ where: { orgId, invoiceId }, orderBy: { position: 'asc' } });
}

/** Returns true when the time of this invoice is billed by an invoice that is not void. */
export async function isPeriodBilled(
  reader: Reader,
  { orgId, subscriptionId, periodStart }: Pick<StoredInvoice, 'orgId' | 'subscriptionId' | 'periodStart'>,
): Promise<boolean> {
  const where = { orgId, subscriptionId, periodStart, kind: 'period', NOT: { status: 'void' } };
  return (await reader.invoice.count({ where })) > 0;
}

export async function hasOpenInvoice(reader: Reader, orgId: OrgId): Promise<boolean> {
  return (await reader.invoice.findFirst({ where: { orgId, status: 'open' }, select: { id: true } })) !== null;
}

/** Returns a page of invoices, latest first. */
export async function listInvoices(
  reader: Reader,
  orgId: OrgId,
  { limit, cursor, status }: PageOf & { status?: InvoiceStatus | undefined },
): Promise<{ rows: StoredInvoice[]; nextCursor: string | null }> {
  const before = readCursor(cursor, InvoiceId);
  const found = await reader.invoice.findMany({
    where: {
      orgId,
      ...(status === undefined ? {} : { status }),
      ...(before === null ? {} : { id: { lt: before } }),
    },
    orderBy: { id: 'desc' },
    take: limit + 1,
  });
  return pageOf(found.map(invoiceOf), limit, ({ id }) => id);
}

/** Returns the open invoices, oldest first. */
export async function listOpenInvoices(reader: Reader, orgId: OrgId, limit: number): Promise<StoredInvoice[]> {
  const where = { orgId, status: 'open' };
  return (await reader.invoice.findMany({ where, orderBy: { id: 'asc' }, take: limit })).map(invoiceOf);
}

/** Returns the latest invoices that are not void, with their lines. */
export async function listInvoicedPeriods(
  reader: Reader,
  orgId: OrgId,
  limit: number,
): Promise<{ invoice: StoredInvoice; lines: InvoiceLineModel[] }[]> {
  const rows = await reader.invoice.findMany({
    where: { orgId, NOT: { status: 'void' } },
    include: { lines: { orderBy: { position: 'asc' } } },
    orderBy: { id: 'desc' },
    take: limit,
  });
  return rows.map(({ lines, ...invoice }) => ({ invoice: invoiceOf(invoice), lines }));
}

type InvoiceChange = Pick<
  StoredInvoice,
  'status' | 'number' | 'creditedMinor' | 'paidMinor' | 'refundedMinor' | 'finalizedAt' | 'closedAt'
>;

/** Updates the members that can change. Lines and totals are immutable. */
export async function updateInvoice(
  tx: Tx,
  { id, orgId }: StoredInvoice,
  change: Partial<InvoiceChange>,
): Promise<StoredInvoice> {
  const row = await tx.invoice.update({ where: { id_orgId: { id, orgId } }, data: change });
  return invoiceOf(row);
}

function rowOf(line: InvoiceLine): Omit<InvoiceLineModel, 'invoiceId' | 'orgId' | 'position'> {
  const { kind, amountMinor } = line;
  if (kind === 'base') return { kind, amountMinor, meter: null, quantityMicros: null, tiers: null };
  const { meter, quantityMicros, includedMicros, tiers } = line;
  const rated = tiers.map(({ upTo, unitAmountDecimal, quantityMicros: quantity }) => ({
    up_to: upTo,
    unit_amount_decimal: unitAmountDecimal,
    quantity_micros: String(quantity),
  }));
  const detail = canonicalize({ included_micros: String(includedMicros), tiers: rated });
  return { kind, amountMinor, meter, quantityMicros, tiers: detail };
}

function invoiceOf({ id, orgId, subscriptionId, planId, kind, status, ...rest }: InvoiceModel): StoredInvoice {
  return {
    ...rest,
    id: InvoiceId.parse(id),
    orgId: OrgId.parse(orgId),
    subscriptionId: SubscriptionId.parse(subscriptionId),
    planId: BillingPlanId.parse(planId),
    kind: InvoiceKind.parse(kind),
    status: InvoiceStatus.parse(status),
  };
}
