import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { CreditGrantId, Currency, Instant, InvoiceId, LedgerTransactionId } from '../scalars.ts';
import { SignedMinorUnits } from './amounts.ts';
import { TenantPath } from './billing-path.ts';

export const LedgerTransactionKind = z.enum([
  'charge',
  'payment',
  'refund',
  'credit_grant',
  'credit_application',
  'credit_expiry',
  'write_off',
  'reversal',
]);
export type LedgerTransactionKind = z.infer<typeof LedgerTransactionKind>;

export const LedgerAccount = z.enum(['receivable', 'revenue', 'credits', 'cash', 'tax']);
export type LedgerAccount = z.infer<typeof LedgerAccount>;

const LedgerTransaction = z.strictObject({
  ledger_transaction_id: LedgerTransactionId,
  kind: LedgerTransactionKind,
  /** Identifies the business event. It is unique within an organisation and kind. */
  reference: z.string(),
  /** `null` when the transaction concerns no invoice. */
  invoice_id: InvoiceId.nullable(),
  /** `null` for all kinds except reversal. */
  reverses_id: LedgerTransactionId.nullable(),
  created_at: Instant,
  /** The amounts add up to zero in each currency. */
  entries: z.array(
    z.strictObject({
      account: LedgerAccount,
      currency: Currency,
      amount_minor: SignedMinorUnits,
      /** `null` in all accounts except credits. */
      credit_grant_id: CreditGrantId.nullable(),
    }),
  ),
});
export type LedgerTransaction = z.infer<typeof LedgerTransaction>;

export const listLedger = defineRoute({
  operation: 'list-ledger',
  summary: 'List the ledger transactions of an organisation with their entries, newest first.',
  method: 'GET',
  path: '/api/billing/tenants/{tenant_id}/ledger',
  auth: 'session',
  forward: {},
  params: z.strictObject(TenantPath),
  query: z.strictObject(PageQuery),
  reply: page(LedgerTransaction),
  errors: ['NOT_FOUND'],
});
