import { fileURLToPath } from 'node:url';
import type { InvoiceId } from '@countersign/contracts';
import { BillingPlanId, PlanVersion } from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import { eventFactory } from '@countersign/messaging';
import pg from 'pg';
import type { BillingCaller, BillingDeps } from '../src/billing-deps.ts';
import { monthlyPeriod } from '../src/billing/period.ts';
import { latestPlan, planCatalog } from '../src/billing/plan-catalog.ts';
import { termsOfPlan } from '../src/entitlements/entitlement-terms.ts';
import { closePeriod } from '../src/invoicing/close-period.ts';
import { finalizeInvoice } from '../src/invoicing/finalize-invoice.ts';
import { openCommercialDatabase, type CommercialDatabase } from '../src/store/database.ts';
import type { StoredInvoice } from '../src/store/invoices.ts';
import { storePlanVersions } from '../src/store/plan-versions.ts';
import { createSubscription } from '../src/subscriptions/create-subscription.ts';

/** 1,000 minor units a month, and 1 minor unit per tool call after the first 10. */
export const testPlan = PlanVersion.parse({
  ...{ plan_id: 'test', version: 1, name: 'Test', currency: 'EUR', base_minor: 1_000, limits: {}, capabilities: [] },
  meters: [{ meter: 'tool_calls', included: 10, tiers: [{ up_to: null, unit_amount_decimal: '1' }] }],
});

export const start = new Date('2027-01-01T00:00:00.000Z');

const freePlan = latestPlan(BillingPlanId.parse('free'));
if (freePlan === null) throw new Error('The catalogue has no plan free');
const entitlementTerms = { basePlan: termsOfPlan(freePlan), installation: null, licenceKeys: [] };

export type Billing = {
  database: CommercialDatabase;
  scratch: TestDatabase;
  admin: pg.Client;
  deps: BillingDeps;
  setTime(time: Date): void;
  close(): Promise<void>;
};

export async function openBilling(): Promise<Billing> {
  const serviceDir = fileURLToPath(new URL('..', import.meta.url));
  const scratch = await createTestDatabase({ serviceDir, schema: 'commercial' });
  const database = openCommercialDatabase(scratch.url);
  const admin = new pg.Client({ connectionString: scratch.adminUrl, options: '-c search_path=commercial' });
  await admin.connect();
  let now = start;
  const newEvent = eventFactory({ source: '/commercial-gateway' });
  await database.transaction((tx) => storePlanVersions(tx, [...planCatalog, testPlan], now));
  return {
    ...{
      database,
      scratch,
      admin,
      deps: { transaction: database.transaction, newEvent, now: () => now, entitlementTerms },
    },
    setTime: (time) => void (now = time),
    close: async () => {
      await admin.end();
      await database.close();
      await scratch.drop();
    },
  };
}

let orgs = 0;

/** Returns a caller of a new organisation. */
export function newCaller(): BillingCaller {
  orgs += 1;
  return { orgId: OrgId.parse(`org_test_${orgs}`), actor: 'usr_test', requestId: null };
}

/** Subscribes the caller to the test plan at `start`. */
export async function subscribe({ deps, setTime }: Billing, caller: BillingCaller): Promise<void> {
  setTime(start);
  await createSubscription(deps, { planId: testPlan.plan_id, planVersion: 1, start: 'active' }, caller);
}

/** Drafts invoices of consecutive months from `start`, each of 1,000 minor units without usage. */
export async function closeMonths(
  { deps, setTime }: Billing,
  caller: BillingCaller,
  { months, from = 0, taxPercent = null }: { months: number; from?: number; taxPercent?: string | null },
): Promise<StoredInvoice[]> {
  const drafts: StoredInvoice[] = [];
  for (let index = from; index < from + months; index += 1) {
    setTime(monthlyPeriod(start, index).end);
    const draft = await closePeriod(deps, { taxPercent }, caller);
    if (draft === null) throw new Error('The period was not closed');
    drafts.push(draft);
  }
  return drafts;
}

/** Returns an open invoice of the first month. */
export async function openInvoice(
  billing: Billing,
  caller: BillingCaller,
  taxPercent: string | null = null,
): Promise<StoredInvoice> {
  await subscribe(billing, caller);
  const [draft] = await closeMonths(billing, caller, { months: 1, taxPercent });
  if (draft === undefined) throw new Error('No invoice was drafted');
  return await finalizeInvoice(billing.deps, draft.id, caller);
}

type Balances = Partial<Record<'receivable' | 'revenue' | 'credits' | 'cash' | 'tax', number>>;

/** Returns the balances of an organisation that are not zero. */
export async function balancesOf({ admin }: Billing, { orgId }: BillingCaller): Promise<Balances> {
  const { rows } = await admin.query<{ account: string; sum: string }>(
    `SELECT account, sum(amount_minor)::text AS sum FROM ledger_entries WHERE org_id = $1
      GROUP BY account HAVING sum(amount_minor) <> 0`,
    [orgId],
  );
  return Object.fromEntries(rows.map(({ account, sum }) => [account, Number(sum)]));
}

export async function countRows({ admin }: Billing, table: string, { orgId }: BillingCaller): Promise<number> {
  const column = table === 'audit_entries' ? 'scope' : 'org_id';
  const { rows } = await admin.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ${table} WHERE ${column} = $1`,
    [orgId],
  );
  return rows[0]?.count ?? 0;
}

/** Returns the violations of the invariants of the ledger of an organisation. */
export async function findUnsound({ admin }: Billing, { orgId }: BillingCaller): Promise<unknown[]> {
  const { rows } = await admin.query<{ fault: string; id: string }>(
    `SELECT 'transaction is not balanced' AS fault, transaction_id AS id FROM ledger_entries WHERE org_id = $1
      GROUP BY transaction_id, currency HAVING sum(amount_minor) <> 0
     UNION ALL
     SELECT 'remaining amount differs from the ledger', g.id FROM credit_grants g WHERE g.org_id = $1
       AND g.remaining_minor <> -(SELECT coalesce(sum(e.amount_minor), 0) FROM ledger_entries e WHERE e.credit_grant_id = g.id)
     UNION ALL
     SELECT 'receivable differs from the open invoices', $1
      WHERE (SELECT coalesce(sum(amount_minor), 0) FROM ledger_entries WHERE org_id = $1 AND account = 'receivable')
         <> (SELECT coalesce(sum(total_minor - credited_minor - paid_minor), 0) FROM invoices WHERE org_id = $1 AND status = 'open')
     UNION ALL
     SELECT 'cash differs from the payments', $1
      WHERE (SELECT coalesce(sum(e.amount_minor), 0) FROM ledger_entries e JOIN ledger_transactions t ON t.id = e.transaction_id
              WHERE e.org_id = $1 AND e.account = 'cash' AND t.invoice_id IS NOT NULL)
         <> (SELECT coalesce(sum(paid_minor - refunded_minor), 0) FROM invoices WHERE org_id = $1)
     UNION ALL
     SELECT 'invoice numbers have a gap', $1
      WHERE (SELECT last_invoice_number FROM billing_accounts WHERE org_id = $1)
         <> (SELECT count(number) FROM invoices WHERE org_id = $1)
         OR (SELECT max(number) FROM invoices WHERE org_id = $1) <> (SELECT count(number) FROM invoices WHERE org_id = $1)`,
    [orgId],
  );
  return rows;
}

export function idOf(invoice: StoredInvoice | undefined): InvoiceId {
  if (invoice === undefined) throw new Error('The invoice does not exist');
  return invoice.id;
}
