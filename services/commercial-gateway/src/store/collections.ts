import { InvoiceId } from '@countersign/contracts';
import { PaymentProviderName } from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import type { CollectionModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';

export type StoredCollection = Omit<CollectionModel, 'invoiceId' | 'orgId' | 'provider'> & {
  invoiceId: InvoiceId;
  orgId: OrgId;
  provider: PaymentProviderName | null;
};

type Place = { orgId: OrgId; invoiceId: InvoiceId };

/** Schedules the collection of a newly opened invoice. */
export async function insertCollection(tx: Tx, { orgId, invoiceId }: Place, at: Date): Promise<void> {
  await tx.collection.createMany({ data: { orgId, invoiceId, nextAt: at, updatedAt: at }, skipDuplicates: true });
}

export async function findCollection(reader: Reader, { orgId, invoiceId }: Place): Promise<StoredCollection | null> {
  const row = await reader.collection.findFirst({ where: { orgId, invoiceId } });
  return row === null ? null : collectionOf(row);
}

/**
 * Claims due collections of all organisations until `leaseUntil`. Other workers skip them until then, and continue them
 * afterwards if this worker died.
 */
export async function claimCollections(
  tx: Tx,
  { now, leaseUntil, limit }: { now: Date; leaseUntil: Date; limit: number },
): Promise<StoredCollection[]> {
  const found = await tx.$queryRaw<{ invoice_id: string }[]>`
    UPDATE collections SET next_at = ${leaseUntil}::timestamptz, updated_at = ${now}::timestamptz
     WHERE invoice_id IN (SELECT invoice_id FROM collections WHERE next_at <= ${now}::timestamptz
                           ORDER BY next_at LIMIT ${limit}::int FOR UPDATE SKIP LOCKED)
    RETURNING invoice_id`;
  const where = { invoiceId: { in: found.map(({ invoice_id }) => invoice_id) } };
  return (await tx.collection.findMany({ where, orderBy: { invoiceId: 'asc' } })).map(collectionOf);
}

/** Stores the provider's payment of an invoice. Returns false when the invoice already has another payment. */
export async function setPaymentReference(
  tx: Tx,
  { orgId, invoiceId }: Place,
  { provider, reference, at }: { provider: PaymentProviderName; reference: string; at: Date },
): Promise<boolean> {
  const where = { orgId, invoiceId, reference: null };
  const { count } = await tx.collection.updateMany({ where, data: { provider, reference, updatedAt: at } });
  return count === 1;
}

type CollectionChange = Partial<
  Pick<StoredCollection, 'attempts' | 'failureCode' | 'nextAt' | 'provider' | 'reference'>
> & { updatedAt: Date };

export async function updateCollection(tx: Tx, { orgId, invoiceId }: Place, change: CollectionChange): Promise<void> {
  await tx.collection.updateMany({ where: { orgId, invoiceId }, data: change });
}

/** Restarts the collection of the open invoices of an organisation, such as after a new payment method. */
export async function collectAgain(tx: Tx, orgId: OrgId, at: Date): Promise<void> {
  const where = { orgId, invoice: { status: 'open' } };
  await tx.collection.updateMany({ where, data: { attempts: 0, nextAt: at, updatedAt: at } });
}

function collectionOf({ invoiceId, orgId, provider, ...rest }: CollectionModel): StoredCollection {
  return {
    ...rest,
    invoiceId: InvoiceId.parse(invoiceId),
    orgId: OrgId.parse(orgId),
    provider: PaymentProviderName.nullable().parse(provider),
  };
}
