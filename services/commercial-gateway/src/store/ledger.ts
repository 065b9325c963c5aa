import { AppError, LedgerTransactionId, type InvoiceId } from '@countersign/contracts';
import type { LedgerTransactionKind } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { assertBalanced, type LedgerEntry } from '../billing/ledger-entries.ts';
import type { LedgerEntryModel, LedgerTransactionModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';
import { pageOf, readCursor, type PageOf } from './page-cursor.ts';

type PostingKey = {
  orgId: OrgId;
  kind: LedgerTransactionKind;
  /** Identifies the business event. A second posting of the same kind and reference is refused. */
  reference: string;
};

type Posting = PostingKey & {
  id: LedgerTransactionId;
  invoiceId: InvoiceId | null;
  /** The transaction that this one reverses; `null` for all kinds except reversal. */
  reversesId: string | null;
  entries: readonly LedgerEntry[];
  createdAt: Date;
};

/** Posts a balanced set of entries. The caller must hold the lock of the billing account. */
export async function postTransaction(tx: Tx, { entries, ...transaction }: Posting): Promise<void> {
  assertBalanced(entries);
  await tx.ledgerTransaction.create({ data: { ...transaction, entryCount: entries.length } });
  const { id: transactionId, orgId } = transaction;
  await tx.ledgerEntry.createMany({
    data: entries.map((entry, index) => ({ ...entry, transactionId, orgId, position: index + 1 })),
  });
}

export type PostedTransaction = LedgerTransactionModel & { entries: LedgerEntryModel[] };

export async function findTransaction(
  reader: Reader,
  { orgId, kind, reference }: PostingKey,
): Promise<PostedTransaction | null> {
  return reader.ledgerTransaction.findFirst({
    where: { orgId, kind, reference },
    include: { entries: { orderBy: { position: 'asc' } } },
  });
}

/**
 * Returns true when the same cash movement was already posted. Throws IDEMPOTENCY_KEY_REUSED when the reference was
 * used for another movement.
 */
export async function isPosted(
  reader: Reader,
  key: PostingKey,
  { invoiceId, cashMinor, currency }: { invoiceId: InvoiceId; cashMinor: bigint; currency: string },
): Promise<boolean> {
  const posted = await findTransaction(reader, key);
  if (posted === null) return false;
  const cash = posted.entries.find(({ account }) => account === 'cash');
  if (posted.invoiceId === invoiceId && cash?.amountMinor === cashMinor && cash.currency === currency) return true;
  throw new AppError(
    'IDEMPOTENCY_KEY_REUSED',
    `The reference ${key.reference} was used for another ${key.kind}. Use a new one`,
    {
      param: 'reference',
    },
  );
}

type ReceivedCash = { reference: string; cashMinor: bigint };

/** Returns the payments of an invoice, oldest first. */
export async function listPayments(reader: Reader, orgId: OrgId, invoiceId: InvoiceId): Promise<ReceivedCash[]> {
  const where = { orgId, invoiceId, kind: 'payment' };
  const entries = { where: { account: 'cash' } };
  const rows = await reader.ledgerTransaction.findMany({ where, include: { entries }, orderBy: { id: 'asc' } });
  return rows.map(({ reference, entries: [cash] }) => ({ reference, cashMinor: cash?.amountMinor ?? 0n }));
}

/** Returns a page of transactions with their entries, latest first. */
export async function listTransactions(
  reader: Reader,
  orgId: OrgId,
  { limit, cursor }: PageOf,
): Promise<{ rows: PostedTransaction[]; nextCursor: string | null }> {
  const before = readCursor(cursor, LedgerTransactionId);
  const found = await reader.ledgerTransaction.findMany({
    where: { orgId, ...(before === null ? {} : { id: { lt: before } }) },
    include: { entries: { orderBy: { position: 'asc' } } },
    orderBy: { id: 'desc' },
    take: limit + 1,
  });
  return pageOf(found, limit, ({ id }) => id);
}

type Balance = { account: string; currency: string; amountMinor: bigint };

/** Returns the sum of the entries of each account and currency. */
export async function sumBalances(reader: Reader, orgId: OrgId): Promise<Balance[]> {
  const sums = await reader.ledgerEntry.groupBy({
    by: ['account', 'currency'],
    where: { orgId },
    _sum: { amountMinor: true },
    orderBy: { currency: 'asc' },
  });
  return sums.map(({ account, currency, _sum }) => ({ account, currency, amountMinor: _sum.amountMinor ?? 0n }));
}
