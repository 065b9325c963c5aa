import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isAppError, type InvoiceId } from '@countersign/contracts';
import { isUnavailable } from '@countersign/database';
import { until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import type { BillingCaller, BillingDeps } from '../src/billing-deps.ts';
import { finalizeInvoice } from '../src/invoicing/finalize-invoice.ts';
import { grantCredit } from '../src/invoicing/grant-credit.ts';
import { recordPayment } from '../src/invoicing/record-payment.ts';
import { recordRefund } from '../src/invoicing/record-refund.ts';
import { voidInvoice } from '../src/invoicing/void-invoice.ts';
import { findInvoice } from '../src/store/invoices.ts';
import {
  balancesOf,
  closeMonths,
  countRows,
  findUnsound,
  idOf,
  newCaller,
  openBilling,
  openInvoice,
  subscribe,
  type Billing,
} from './_billing-database.ts';

let billing: Billing;
beforeAll(async () => {
  billing = await openBilling();
});
afterAll(() => billing?.close());

const cash = (amountMinor: bigint, reference: string) => ({ amountMinor, currency: 'EUR', reference });
const credit = { kind: 'promotional', currency: 'EUR', expiresAt: null, reason: 'test' } as const;

const grant = (caller: BillingCaller, amountMinor: bigint, reference: string) =>
  grantCredit(billing.deps, { ...credit, amountMinor, reference }, caller);
const pay = (caller: BillingCaller, invoiceId: InvoiceId, amountMinor: bigint, reference: string) =>
  recordPayment(billing.deps, { invoiceId, ...cash(amountMinor, reference) }, caller);

/**
 * Runs all operations concurrently and returns the number of successes. Fails for any error other than a refusal by a
 * rule.
 */
async function race(operations: readonly (() => Promise<unknown>)[]): Promise<number> {
  const ends = await Promise.allSettled(operations.map((operation) => operation()));
  const failures = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
  expect(failures.filter((error) => !isAppError(error))).toEqual([]);
  return ends.length - failures.length;
}

/** Returns the audit entries of an organisation that do not link to the previous entry. */
async function brokenLinks({ orgId }: BillingCaller): Promise<unknown[]> {
  const { rows } = await billing.admin.query<{ seq: number }>(
    `SELECT seq FROM (SELECT seq, prev_hash, lag(hash) OVER (ORDER BY seq) AS before FROM audit_entries WHERE scope = $1) chain
      WHERE prev_hash IS DISTINCT FROM before`,
    [orgId],
  );
  return rows;
}

async function countEvents({ orgId }: BillingCaller): Promise<number> {
  const { rows } = await billing.admin.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM outbox WHERE envelope::jsonb -> 'data' ->> 'org_id' = $1`,
    [orgId],
  );
  return rows[0]?.count ?? 0;
}

describe('concurrent postings', () => {
  verifies(
    'cg.ledger',
    'keep the ledger sound during 50 concurrent charges, credits, payments, refunds and voids',
    async () => {
      const caller = newCaller();
      await subscribe(billing, caller);
      const ids = (await closeMonths(billing, caller, { months: 12 })).map(({ id }) => id);
      const [refunded = idOf(undefined), ...drafts] = ids;
      await finalizeInvoice(billing.deps, refunded, caller);
      await pay(caller, refunded, 1_000n, 'paid');
      const opened = drafts.slice(0, 6);
      for (const id of opened) await finalizeInvoice(billing.deps, id, caller);
      const before = { events: await countEvents(caller), entries: await countRows(billing, 'audit_entries', caller) };
      const refund = (index: number) => () =>
        recordRefund(billing.deps, { invoiceId: refunded, ...cash(400n, `r${index}`) }, caller);
      const operations = [
        ...drafts
          .slice(6)
          .flatMap((id) => [id, id])
          .map((id) => () => finalizeInvoice(billing.deps, id, caller)),
        ...Array.from({ length: 10 }, (_, index) => () => grant(caller, 300n, `g${index}`)),
        ...opened.flatMap((id) => [300n, 400n, 500n].map((amount) => () => pay(caller, id, amount, `${id}:${amount}`))),
        ...Array.from({ length: 7 }, (_, index) => refund(index)),
        ...opened.slice(0, 5).map((id) => () => voidInvoice(billing.deps, id, caller)),
      ];
      expect(operations).toHaveLength(50);
      const succeeded = await race(operations);
      expect(await findUnsound(billing, caller)).toEqual([]);
      expect((await findInvoice(billing.database.reader, caller.orgId, refunded))?.refundedMinor).toBe(800n);
      expect(await countEvents(caller)).toBe(before.events + succeeded);
      expect(await countRows(billing, 'audit_entries', caller)).toBe(before.entries + succeeded);
      expect(await brokenLinks(caller)).toEqual([]);
    },
  );

  it('spend each credit once', async () => {
    const caller = newCaller();
    await subscribe(billing, caller);
    const drafts = await closeMonths(billing, caller, { months: 6 });
    await grant(caller, 2_500n, 'g1');
    await race(
      drafts.map(
        ({ id }) =>
          () =>
            finalizeInvoice(billing.deps, id, caller),
      ),
    );
    expect(await balancesOf(billing, caller)).toEqual({ receivable: 3_500, revenue: -3_500 });
    expect(await findUnsound(billing, caller)).toEqual([]);
  });

  it('post a payment once even if it is delivered ten times', async () => {
    const caller = newCaller();
    const { id } = await openInvoice(billing, caller);
    expect(await race(Array.from({ length: 10 }, () => () => pay(caller, id, 1_000n, 'p1')))).toBe(10);
    expect(await balancesOf(billing, caller)).toEqual({ cash: 1_000, revenue: -1_000 });
    expect(await countRows(billing, 'ledger_transactions', caller)).toBe(2);
  });

  it('do not wait for the postings of another organisation', async () => {
    const [one, second] = [newCaller(), newCaller()];
    await grant(one, 1n, 'g1');
    await billing.admin.query('BEGIN');
    try {
      await billing.admin.query('SELECT FROM billing_accounts WHERE org_id = $1 FOR UPDATE', [one.orgId]);
      await expect(grant(second, 1n, 'g1')).resolves.toMatchObject({ remainingMinor: 1n });
    } finally {
      await billing.admin.query('ROLLBACK');
    }
  });
});

/** Starts a posting, terminates its connection while it waits for the end of the audit chain, and returns its error. */
async function killBeforeAudit({ orgId }: BillingCaller, posting: () => Promise<unknown>): Promise<unknown> {
  const { admin, scratch } = billing;
  await admin.query('BEGIN');
  try {
    await admin.query('SELECT FROM audit_heads WHERE scope = $1 FOR UPDATE', [orgId]);
    const ended = posting().then(
      () => null,
      (error: unknown) => error,
    );
    await until(async () => {
      await admin.query('SELECT pg_stat_clear_snapshot()');
      const { rows } = await admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND usename = $1 AND wait_event_type = 'Lock'`,
        [scratch.role],
      );
      return rows.length > 0;
    });
    return await ended;
  } finally {
    await admin.query('ROLLBACK');
  }
}

describe('a posting', () => {
  verifies(
    'cg.ledger',
    'leaves nothing when its connection is killed after its entries were written, and can be repeated',
    async () => {
      const caller = newCaller();
      await subscribe(billing, caller);
      const [draft] = await closeMonths(billing, caller, { months: 1 });
      await grant(caller, 600n, 'g1');
      const stateOf = async () => ({
        balances: await balancesOf(billing, caller),
        events: await countEvents(caller),
        entries: await countRows(billing, 'ledger_entries', caller),
        invoice: await findInvoice(billing.database.reader, caller.orgId, idOf(draft)),
        unsound: await findUnsound(billing, caller),
      });
      const before = await stateOf();
      const finalize = () => finalizeInvoice(billing.deps, idOf(draft), caller);
      const error = await killBeforeAudit(caller, finalize);
      expect(isUnavailable(error)).toBe(true);
      expect(await stateOf()).toEqual(before);
      expect(await finalize()).toMatchObject({ status: 'open', number: 1, creditedMinor: 600n });
      expect(await findUnsound(billing, caller)).toEqual([]);
    },
  );

  it('is posted once when it is repeated because its answer was lost after the commit', async () => {
    const caller = newCaller();
    const { id: invoiceId } = await openInvoice(billing, caller);
    const losing: BillingDeps = {
      ...billing.deps,
      transaction: async (work) => {
        await billing.deps.transaction(work);
        throw new Error('Connection terminated unexpectedly');
      },
    };
    const payment = { invoiceId, ...cash(1_000n, 'p1') };
    await expect(recordPayment(losing, payment, caller)).rejects.toThrow('Connection terminated');
    expect(await recordPayment(billing.deps, payment, caller)).toMatchObject({ status: 'paid', paidMinor: 1_000n });
    expect(await balancesOf(billing, caller)).toEqual({ cash: 1_000, revenue: -1_000 });
  });
});
