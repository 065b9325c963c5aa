import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { InvoiceId, SubscriptionId } from '@countersign/contracts';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { createTestDatabase, explainStatements, findGrowingReads, recordPlans } from '@countersign/database/testing';
import type { PlanRecorder, TestDatabase } from '@countersign/database/testing';
import pg from 'pg';
import { microsPerUnit } from '../src/metering/micros.ts';
import { listBilledEvents, sumBilledUsage } from '../src/store/billed-usage.ts';
import { listCreditGrants, listExpiredCredits } from '../src/store/credit-grants.ts';
import { openCommercialDatabase, type CommercialDatabase } from '../src/store/database.ts';
import { findInvoice, hasOpenInvoice, isPeriodBilled, listInvoiceLines } from '../src/store/invoices.ts';
import { findTransaction } from '../src/store/ledger.ts';
import { findCurrentSubscription } from '../src/store/subscriptions.ts';
import { recordUsage } from '../src/store/usage-events.ts';

const rows = 30_000;
const unbilledRows = 200;
/** Largest number of rows that a statement may read: a page of events, or the unbilled events of one period. */
const rowsMax = 500;
const pagesMax = 300;

const orgId = OrgId.parse('org_long');
const hour = (index: number) => new Date(Date.UTC(2024, 0, 1) + index * 3_600_000);
const id = (prefix: string, index: number) => `${prefix}_${String(index).padStart(26, '0')}`;

/** Fills the history of one organisation with one event per hour. The last events are not billed. */
const fillSql = `
  INSERT INTO plan_versions VALUES ('test', 1, '{}', now());
  INSERT INTO subscriptions SELECT 'sub_' || lpad(n::text, 26, '0'), CASE n WHEN 1 THEN 'org_long' ELSE 'org_' || n END, 'test', 1, 'active',
      '2024-01-01Z', 0, '2024-01-01Z', '2024-01-01Z', NULL, NULL, NULL, now(), now() FROM generate_series(1, ${rows}) n;
  INSERT INTO usage_events SELECT 'org_long', '/test', 'e' || n, n, 'tool_calls', 1000000, NULL, '2024-01-01Z'::timestamptz + n * interval '1 hour', now()
    FROM generate_series(1, ${rows}) n;
  INSERT INTO usage_heads VALUES ('org_long', ${rows}, ${rows - unbilledRows}, now());
  INSERT INTO invoices SELECT 'ivc_' || lpad(n::text, 26, '0'), 'org_long', 'sub_' || lpad('1', 26, '0'), n, 'paid', 'EUR', 'test', 1,
      t, t + interval '1 hour', t, t + interval '1 hour', t, 1, 0, NULL, 10, 0, 10, 0, 10, 0, now(), now(), now()
    FROM (SELECT n, '2024-01-01Z'::timestamptz + n * interval '1 hour' AS t FROM generate_series(1, ${rows}) n) numbered;
  INSERT INTO invoice_lines SELECT id, 1, org_id, 'base', NULL, NULL, NULL, 10 FROM invoices;
  INSERT INTO credit_grants SELECT 'crg_' || lpad(n::text, 26, '0'), 'org_long', 'promotional', 'EUR', 5, 0, '', '2024-02-01Z', now() FROM generate_series(1, ${rows}) n;
  INSERT INTO ledger_transactions SELECT 'ltx_' || n, 'org_long', 'payment', 'p' || n, 'ivc_' || lpad(n::text, 26, '0'), NULL, 2, now() FROM generate_series(1, ${rows}) n;
  INSERT INTO ledger_entries SELECT id, side, org_id, CASE side WHEN 1 THEN 'cash' ELSE 'receivable' END, 'EUR', CASE side WHEN 1 THEN 10 ELSE -10 END, NULL
    FROM ledger_transactions, generate_series(1, 2) side;
  ANALYZE;`;

let scratch: TestDatabase;
let database: CommercialDatabase;
let recorder: PlanRecorder;

beforeAll(async () => {
  scratch = await createTestDatabase({
    serviceDir: fileURLToPath(new URL('..', import.meta.url)),
    schema: 'commercial',
  });
  const client = new pg.Client({ connectionString: scratch.adminUrl, options: '-c search_path=commercial' });
  await client.connect();
  await client.query(fillSql).finally(() => client.end());
  await explainStatements(scratch);
  database = openCommercialDatabase(scratch.url);
  recorder = recordPlans(database.pool);
});
afterAll(async () => {
  await database?.close();
  await scratch?.drop();
});

it('no statement reads more than a page or the unbilled events of a period, for a history of any length', async () => {
  const bounds = {
    ...{ usageFrom: hour(0), periodEnd: hour(rows + 1), usageSeq: BigInt(rows) },
    ...{ billedSeq: BigInt(rows - unbilledRows), billedUntil: hour(rows - unbilledRows + 1) },
  };
  const subscriptionId = SubscriptionId.parse(id('sub', 1));
  const invoiceId = InvoiceId.parse(id('ivc', 7));
  const plans = await recorder.during(async () => {
    const { reader } = database;
    expect(await sumBilledUsage(reader, orgId, bounds)).toEqual({ tool_calls: BigInt(unbilledRows) * microsPerUnit });
    const page = { bounds, meter: 'tool_calls', afterSeq: 0n, limit: 50 } as const;
    expect(await listBilledEvents(reader, orgId, page)).toHaveLength(50);
    const event = { source: '/test', id: 'new', meter: 'seats', workspaceId: null, occurredAt: hour(1) } as const;
    const events = [{ ...event, quantityMicros: 1n }];
    await database.transaction((tx) => recordUsage(tx, { orgId, events, receivedAt: hour(1) }));
    expect(await listCreditGrants(reader, orgId, 'EUR')).toEqual([]);
    expect(await listExpiredCredits(reader, orgId, hour(rows))).toEqual([]);
    expect(await findCurrentSubscription(reader, orgId)).not.toBeNull();
    expect(await findInvoice(reader, orgId, invoiceId)).not.toBeNull();
    expect(await listInvoiceLines(reader, orgId, invoiceId)).toHaveLength(1);
    expect(await hasOpenInvoice(reader, orgId)).toBe(false);
    expect(await isPeriodBilled(reader, { orgId, subscriptionId, periodStart: hour(7) })).toBe(true);
    expect(await findTransaction(reader, { orgId, kind: 'payment', reference: 'p7' })).not.toBeNull();
  });
  expect(plans.length).toBeGreaterThan(10);
  expect(await findGrowingReads(scratch, plans, { rows: rowsMax, pages: pagesMax })).toEqual([]);
});
