import { AppError, type InvoiceId, type LedgerTransactionId } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { assertBalanced, type LedgerEntry } from '../billing/ledger-entries.ts';
import type { LedgerEntryModel, LedgerTransactionModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';

type LedgerTransactionKind =
  'charge' | 'payment' | 'refund' | 'credit_grant' | 'credit_application' | 'credit_expiry' | 'write_off' | 'reversal';

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

/** Posts a balanced set of entries. The caller holds the lock of the billing account. */
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

/** True when the same cash movement was posted before. Throws IDEMPOTENCY_KEY_REUSED when the reference was used for another one. */
export async function isPosted(
  reader: Reader,
  key: PostingKey,
  { invoiceId, cashMinor, currency }: { invoiceId: InvoiceId; cashMinor: bigint; currency: string },
): Promise<boolean> {
  const posted = await findTransaction(reader, key);
  if (posted === null) return false;
  const cash = posted.entries.find(({ account }) => account === 'cash');
  if (posted.invoiceId === invoiceId && cash?.amountMinor === cashMinor && cash.currency === currency) return true;
  throw new AppError('IDEMPOTENCY_KEY_REUSED', `The reference ${key.reference} was used for another ${key.kind}`, {
    param: 'reference',
  });
}
