import { InvoiceId } from '@countersign/contracts';
import { PaymentProviderName, RefundStatus } from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import type { RefundModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';

export type StoredRefund = Omit<RefundModel, 'orgId' | 'invoiceId' | 'provider' | 'status'> & {
  orgId: OrgId;
  invoiceId: InvoiceId;
  provider: PaymentProviderName;
  status: RefundStatus;
};

type Place = { orgId: OrgId; reference: string };

export async function insertRefund(tx: Tx, refund: StoredRefund): Promise<void> {
  await tx.refund.create({ data: refund });
}

export async function findRefund(reader: Reader, { orgId, reference }: Place): Promise<StoredRefund | null> {
  const row = await reader.refund.findUnique({ where: { orgId_reference: { orgId, reference } } });
  return row === null ? null : refundOf(row);
}

/** Returns the sum of the refunds of an invoice that are requested and not posted yet. */
export async function sumPendingRefunds(reader: Reader, orgId: OrgId, invoiceId: InvoiceId): Promise<bigint> {
  const where = { orgId, invoiceId, status: 'pending' };
  const { _sum } = await reader.refund.aggregate({ where, _sum: { amountMinor: true } });
  return _sum.amountMinor ?? 0n;
}

/** Returns the refunds of an invoice that did not fail, summed by the reference of the payment. */
export async function sumRefundsByPayment(
  reader: Reader,
  orgId: OrgId,
  invoiceId: InvoiceId,
): Promise<ReadonlyMap<string, bigint>> {
  const where = { orgId, invoiceId, NOT: { status: 'failed' } };
  const sums = await reader.refund.groupBy({ by: ['paymentReference'], where, _sum: { amountMinor: true } });
  return new Map(sums.map(({ paymentReference, _sum }) => [paymentReference, _sum.amountMinor ?? 0n]));
}

/** Claims due refunds of all organisations until `leaseUntil`, like `claimCollections`. */
export async function claimRefunds(
  tx: Tx,
  { now, leaseUntil, limit }: { now: Date; leaseUntil: Date; limit: number },
): Promise<StoredRefund[]> {
  const rows = await tx.$queryRaw<{ org_id: string; reference: string }[]>`
    UPDATE refunds SET next_at = ${leaseUntil}::timestamptz
     WHERE (org_id, reference) IN (SELECT org_id, reference FROM refunds WHERE next_at <= ${now}::timestamptz
                                    ORDER BY next_at LIMIT ${limit}::int FOR UPDATE SKIP LOCKED)
    RETURNING org_id, reference`;
  if (rows.length === 0) return [];
  const leased = rows.map(({ org_id: orgId, reference }) => ({ orgId, reference }));
  return (await tx.refund.findMany({ where: { OR: leased } })).map(refundOf);
}

export async function endRefund(
  tx: Tx,
  { orgId, reference }: Place,
  end: Pick<StoredRefund, 'status' | 'failureCode' | 'nextAt'>,
): Promise<void> {
  await tx.refund.updateMany({ where: { orgId, reference, status: 'pending' }, data: end });
}

function refundOf({ orgId, invoiceId, provider, status, ...rest }: RefundModel): StoredRefund {
  return {
    ...rest,
    orgId: OrgId.parse(orgId),
    invoiceId: InvoiceId.parse(invoiceId),
    provider: PaymentProviderName.parse(provider),
    status: RefundStatus.parse(status),
  };
}
