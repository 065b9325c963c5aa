import { instantOf, CreditGrantId, InvoiceId, LedgerTransactionId } from '@countersign/contracts';
import {
  LedgerAccount,
  listLedger,
  LedgerTransactionKind,
  type LedgerTransaction,
} from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { orgOfAdmin } from '../../directory/org-of-admin.ts';
import { handlePerson } from '../../handle.ts';
import { listTransactions, type PostedTransaction } from '../../store/ledger.ts';

export const listLedgerRoute = ({ database }: Pick<Context, 'database'>) =>
  handlePerson(listLedger)(async ({ params, query, caller }) => {
    const { id } = await orgOfAdmin({ database }, caller, params.tenant_id);
    const { rows, nextCursor } = await listTransactions(database.reader, id, query);
    return { data: rows.map(transactionView), next_cursor: nextCursor };
  });

function transactionView({ id, kind, reference, invoiceId, reversesId, createdAt, entries }: PostedTransaction) {
  const view: LedgerTransaction = {
    ledger_transaction_id: LedgerTransactionId.parse(id),
    kind: LedgerTransactionKind.parse(kind),
    reference,
    invoice_id: InvoiceId.nullable().parse(invoiceId),
    reverses_id: LedgerTransactionId.nullable().parse(reversesId),
    created_at: instantOf(createdAt),
    entries: entries.map(({ account, currency, amountMinor, creditGrantId }) => ({
      account: LedgerAccount.parse(account),
      currency,
      amount_minor: String(amountMinor),
      credit_grant_id: CreditGrantId.nullable().parse(creditGrantId),
    })),
  };
  return view;
}
