import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import pg from 'pg';
import { newLedgerTransactionId } from '../src/ids.ts';
import { postTransaction } from '../src/store/ledger.ts';
import { newCaller, openBilling, openInvoice, type Billing } from './_billing-database.ts';

let billing: Billing;
let service: pg.Client;

beforeAll(async () => {
  billing = await openBilling();
  service = new pg.Client({ connectionString: billing.scratch.url, options: '-c search_path=commercial' });
  await service.connect();
  await openInvoice(billing, newCaller());
});
afterAll(async () => {
  await service?.end();
  await billing?.close();
});

type Entry = [position: number, account: string, currency: string, amount: number];

/**
 * Commits a transaction that declares `entryCount` as the number of its entries. It uses the database role of the
 * service.
 */
async function insert({ entryCount, entries }: { entryCount: number; entries: Entry[] }): Promise<string> {
  const id = newLedgerTransactionId();
  await service.query('BEGIN');
  try {
    await service.query(
      `INSERT INTO ledger_transactions (id, org_id, kind, reference, entry_count, created_at) VALUES ($1, 'org_sql', 'payment', $1, $2, now())`,
      [id, entryCount],
    );
    for (const entry of entries) await insertEntry(id, entry);
    await service.query('COMMIT');
    return id;
  } catch (error) {
    await service.query('ROLLBACK');
    throw error;
  }
}

async function insertEntry(transactionId: string, entry: Entry): Promise<void> {
  await service.query(
    `INSERT INTO ledger_entries (transaction_id, org_id, position, account, currency, amount_minor) VALUES ($1, 'org_sql', $2, $3, $4, $5)`,
    [transactionId, ...entry],
  );
}

const debit: Entry = [1, 'cash', 'EUR', 5];
const credit: Entry = [2, 'receivable', 'EUR', -5];

describe('the ledger', () => {
  verifies(
    'cg.ledger',
    'refuses UPDATE, DELETE and TRUNCATE by the service and by the owner of the tables',
    async () => {
      const statements = ['ledger_entries', 'ledger_transactions'].flatMap((table) => [
        `UPDATE ${table} SET org_id = 'org_other'`,
        `UPDATE ${table} SET created_at = now()`,
        `DELETE FROM ${table}`,
        `TRUNCATE ${table} CASCADE`,
      ]);
      for (const statement of statements.filter((text) => !text.startsWith('UPDATE ledger_entries SET created_at'))) {
        await expect(service.query(statement)).rejects.toThrow('permission denied');
        await expect(billing.admin.query(statement)).rejects.toThrow('the ledger is append-only');
      }
    },
  );

  it('accepts a complete and balanced transaction', async () => {
    await expect(insert({ entryCount: 2, entries: [debit, credit] })).resolves.toMatch(/^ltx_/);
  });

  it.each<[string, number, Entry[], string]>([
    ['a transaction with a sum other than zero', 2, [debit, [2, 'receivable', 'EUR', -4]], 'does not sum to zero'],
    ['a sum of zero over several currencies', 2, [debit, [2, 'receivable', 'JPY', -5]], 'does not sum to zero'],
    ['a transaction without its entries', 2, [], 'number of entries'],
    ['an entry of zero', 3, [debit, credit, [3, 'tax', 'EUR', 0]], 'ledger_entries_amount'],
    ['an unknown account', 2, [debit, [2, 'suspense', 'EUR', -5]], 'ledger_entries_account'],
    ['credits without a grant', 2, [debit, [2, 'credits', 'EUR', -5]], 'ledger_entries_grant'],
  ])('refuses %s', async (_, entryCount, entries, message) => {
    await expect(insert({ entryCount, entries })).rejects.toThrow(message);
  });

  it('refuses balanced entries that are added to a committed transaction', async () => {
    const id = await insert({ entryCount: 2, entries: [debit, credit] });
    const add = async () => {
      await service.query('BEGIN');
      await insertEntry(id, [3, 'cash', 'EUR', 9]);
      await insertEntry(id, [4, 'revenue', 'EUR', -9]);
      await service.query('COMMIT');
    };
    await expect(add()).rejects.toThrow('number of entries');
    await service.query('ROLLBACK');
  });

  it('refuses a second reversal, a second posting of a reference, and entries of another organisation', async () => {
    const id = await insert({ entryCount: 2, entries: [debit, credit] });
    const copy = `INSERT INTO ledger_transactions (id, org_id, kind, reference, reverses_id, entry_count, created_at)`;
    await service.query('BEGIN');
    await service.query(`${copy} VALUES ('ltx_a', 'org_sql', 'reversal', 'a', $1, 2, now())`, [id]);
    await expect(
      service.query(`${copy} VALUES ('ltx_b', 'org_sql', 'reversal', 'b', $1, 2, now())`, [id]),
    ).rejects.toThrow('ledger_transactions_reverses_id_key');
    await service.query('ROLLBACK');
    await expect(
      service.query(`${copy} VALUES ('ltx_c', 'org_sql', 'payment', $1, NULL, 2, now())`, [id]),
    ).rejects.toThrow('ledger_transactions_org_id_kind_reference_key');
    await expect(
      service.query(`INSERT INTO ledger_entries VALUES ($1, 9, 'org_other', 'cash', 'EUR', 1, NULL)`, [id]),
    ).rejects.toThrow('ledger_entries_transaction_fkey');
  });

  it('refuses unbalanced entries before they reach the database', async () => {
    const { orgId } = newCaller();
    const entry = { account: 'cash', currency: 'EUR', amountMinor: 1n, creditGrantId: null } as const;
    const posting = { orgId, kind: 'payment', reference: 'x', invoiceId: null, reversesId: null } as const;
    const post = billing.database.transaction((tx) =>
      postTransaction(tx, { id: newLedgerTransactionId(), ...posting, entries: [entry, entry], createdAt: new Date() }),
    );
    await expect(post).rejects.toThrow('The ledger entries are not balanced in EUR');
  });
});
