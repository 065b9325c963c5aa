import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Instant, ReceiptId, TenantId, UserId, WorkspaceId, type InvoiceId } from '@countersign/contracts';
import { BillingPlanId, type BilledEvent, type Meter } from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { until } from '@countersign/testkit/until';
import { monthlyPeriod } from '../src/billing/period.ts';
import { closePeriod } from '../src/invoicing/close-period.ts';
import { finalizeInvoice } from '../src/invoicing/finalize-invoice.ts';
import { grantCredit } from '../src/invoicing/grant-credit.ts';
import { recordPayment } from '../src/invoicing/record-payment.ts';
import { findOrg } from '../src/store/orgs.ts';
import { recordReceipts } from '../src/usage/record-receipts.ts';
import { startCommercialSite, type CommercialClient, type CommercialSite } from './_commercial.ts';

const mark = '1'.repeat(26);
const owner = UserId.parse(`usr_${mark}`);
const orgId = OrgId.parse(`org_${mark}`);
const workspaceId = WorkspaceId.parse(`wsp_${mark}`);
const caller = { orgId, actor: owner, requestId: null };
const params = { tenant_id: orgId };
const team = { plan_id: BillingPlanId.parse('team'), plan_version: 1 };

const begin = new Date(Math.floor(Date.now() / 1_000) * 1_000);
let now = begin;
const later = (seconds: number) => new Date(begin.getTime() + seconds * 1_000);

let site: CommercialSite;
let client: CommercialClient;

async function moveTo(time: Date): Promise<void> {
  now = time;
  client = await site.as(owner);
}

beforeAll(async () => {
  const created = Instant.parse('2026-11-01T00:00:00.000Z');
  site = await startCommercialSite({
    now: () => now,
    before: ({ orgs, workspaces }) => {
      orgs.push({ org_id: orgId, name: 'Org', admin_id: owner, created_at: created });
      workspaces.push({ workspace_id: workspaceId, org_id: orgId, added_at: created });
    },
  });
  const { reader } = site.gateway.context.database;
  await until(async () => (await findOrg(reader, orgId)) !== null && (await reader.orgWorkspace.count()) === 1);
  client = await site.as(owner);
});
afterAll(() => site?.stop());

const usageEvent = (id: string, meter: Meter, quantity: string) => ({
  ...{ specversion: '1.0', type: 'usage.recorded.v1', source: '/gateway', id, time: now.toISOString() },
  data: { meter, quantity, workspace_id: workspaceId },
});

const receipts = Array.from({ length: 7 }, (_, index) => ({
  ...({
    receipt_id: ReceiptId.parse(`rcp_${String(index).padStart(26, '0')}`),
    kind: 'decision',
    shadow: false,
  } as const),
  ...({ tenant_id: TenantId.parse(workspaceId), verdict: 'ALLOW', tool: 'mail.send' } as const),
  issued_at: Instant.parse(later(30).toISOString()),
  log_index: index,
}));

/** Returns all events that a usage line bills, read in pages of three. */
async function eventsOf(invoice_id: InvoiceId, meter: Meter): Promise<BilledEvent[]> {
  const found: BilledEvent[] = [];
  for (let cursor: string | undefined; ;) {
    const query = { meter, limit: 3, ...(cursor === undefined ? {} : { cursor }) };
    const { body } = await client.getInvoice({ params: { ...params, invoice_id }, query });
    found.push(...(body.events?.data ?? []));
    if (body.events === null || body.events.next_cursor === null) return found;
    cursor = body.events.next_cursor;
  }
}

const sumOf = (events: readonly BilledEvent[]) => events.reduce((sum, { quantity }) => sum + Number(quantity), 0);

/** Lists the offered plans, then subscribes to one of them once. */
async function subscribeOnce(): Promise<void> {
  const plans = (await client.listBillingPlans()).body.data;
  expect(plans.map(({ plan_id }) => plan_id)).toEqual(['self_hosted', 'team', 'free']);
  const first = await client.putSubscription({ params, body: { plan: team } });
  const replay = await client.putSubscription({ params, body: { plan: team } });
  expect(first.body).toMatchObject({ subscription: { ...team, status: 'active' }, invoice_id: null });
  expect(replay.body).toEqual(first.body);
  expect(await site.gateway.context.database.reader.auditEntry.count({ where: { scope: orgId } })).toBe(1);
}

/** Refuses a plan that is not offered to subscribers, and names the member. */
async function refuseOtherPlans(): Promise<void> {
  for (const plan of [
    { ...team, plan_version: 2 },
    { ...team, plan_id: BillingPlanId.parse('self_hosted') },
  ])
    await expect(client.putSubscription({ params, body: { plan } })).rejects.toMatchObject({
      ...{ code: 'INVALID_REQUEST', param: 'plan.plan_id' },
    });
}

/** Stores usage once by source and id, and prices it as the invoice will. */
async function recordUsage(): Promise<void> {
  await moveTo(later(60));
  const { context } = site.gateway;
  await recordReceipts(context, { workspaceId, from: 0n, to: 7n, receipts }, caller);
  const events = [
    usageEvent('a', 'run_minutes', '1500.5'),
    usageEvent('b', 'run_minutes', '2'),
    usageEvent('c', 'seats', '6'),
  ];
  const send = (batch: unknown[]) => site.sibling.recordUsageEvents({ body: { tenant_id: orgId, events: batch } });
  expect((await send([...events, { ...usageEvent('d', 'seats', '1'), extra: 1 }])).body).toMatchObject({
    ...{ stored: 3, known: 0, rejected: 1, rejections: [{ index: 3, code: 'INVALID_REQUEST' }] },
  });
  expect((await send(events.toReversed())).body).toMatchObject({ stored: 0, known: 3, rejected: 0 });
  const { body } = await client.getUsage({ params });
  expect(body.meters.map(({ meter, quantity, amount_minor }) => [meter, quantity, amount_minor])).toEqual([
    ['decisions', '7', '0'],
    ['run_minutes', '1502.5', '251'],
    ['seats', '6', '900'],
    ['tool_calls', '7', '0'],
  ]);
  expect(body).toMatchObject({ currency: 'EUR', usage_minor: '1151', previous: [] });
}

/** Alerts when a budget is reached, once per threshold. */
async function setBudgets(): Promise<void> {
  const put = (amount_minor: number) => client.putBudget({ params, body: { amount_minor, currency: 'EUR' } });
  // The period costs 6,051 so far: 4,900 and the usage.
  expect((await put(7_000)).body.reached_percent).toEqual([75]);
  expect((await put(6_051)).body.reached_percent).toEqual([90, 100]);
  await expect(client.putBudget({ params, body: { amount_minor: 1, currency: 'USD' } })).rejects.toMatchObject({
    ...{ code: 'INVALID_REQUEST', param: 'currency' },
  });
}

/** Invoices the period at the shown price, with the events of each usage line. */
async function invoicePeriod(): Promise<void> {
  const { context } = site.gateway;
  await moveTo(monthlyPeriod(begin, 0).end);
  const draft = await closePeriod(context, { taxPercent: '19' }, caller);
  if (draft === null) throw new Error('The period was not closed');
  await grantCredit(
    context,
    {
      ...{ kind: 'promotional', currency: 'EUR', amountMinor: 1_000n, expiresAt: null },
      reason: 'Test',
      reference: 'c1',
    },
    caller,
  );
  await finalizeInvoice(context, draft.id, caller);
  const { body: invoice } = await client.getInvoice({ params: { ...params, invoice_id: draft.id } });
  expect(invoice).toMatchObject({ status: 'open', subtotal_minor: '6051', tax_minor: '1150', total_minor: '7201' });
  expect(invoice).toMatchObject({ number: 1, credited_minor: '1000', events: null });
  for (const line of invoice.lines)
    if (line.kind === 'usage') expect(sumOf(await eventsOf(draft.id, line.meter))).toBe(Number(line.quantity));
  const calls = await eventsOf(draft.id, 'tool_calls');
  expect(calls.map(({ receipt_id }) => receipt_id)).toEqual(receipts.map(({ receipt_id }) => receipt_id));
  expect((await eventsOf(draft.id, 'seats')).map(({ id, receipt_id }) => [id, receipt_id])).toEqual([['c', null]]);
  const { body: usage } = await client.getUsage({ params });
  expect(usage).toMatchObject({ meters: [], previous: [{ invoice_id: draft.id, subtotal_minor: '6051' }] });
  const { body: account } = await client.getBillingAccount({ params });
  expect(account.open_invoices.map(({ invoice_id }) => invoice_id)).toEqual([draft.id]);
  expect(account.balances).toEqual([{ currency: 'EUR', receivable_minor: '6201', credits_minor: '0' }]);
  expect(account.budget).toEqual({ amount_minor: 6_051, currency: 'EUR' });
}

/** Pays the invoice. Every page of the ledger sums to zero. */
async function payInvoice(): Promise<void> {
  const { body: open } = await client.listInvoices({ params, query: { status: 'open' } });
  const invoiceId = open.data[0]?.invoice_id;
  if (invoiceId === undefined) throw new Error('No invoice is open');
  const payment = { invoiceId, currency: 'EUR', amountMinor: 6_201n, reference: 'p1' };
  await recordPayment(site.gateway.context, payment, caller);
  expect((await client.getBillingAccount({ params })).body.balances[0]?.receivable_minor).toBe('0');
  const kinds: string[] = [];
  for (let cursor: string | undefined; ;) {
    const { body } = await client.listLedger({
      params,
      query: { limit: 1, ...(cursor === undefined ? {} : { cursor }) },
    });
    for (const { kind, entries } of body.data) {
      kinds.push(kind);
      expect(entries.reduce((sum, { amount_minor }) => sum + BigInt(amount_minor), 0n)).toBe(0n);
    }
    if (body.next_cursor === null) break;
    cursor = body.next_cursor;
  }
  expect(kinds).toEqual(['payment', 'credit_application', 'charge', 'credit_grant']);
  await expect(client.listLedger({ params, query: { cursor: 'bm90LWFuLWlk' } })).rejects.toMatchObject({
    param: 'cursor',
  });
}

/** Cancels once and invoices the rest. */
async function cancelOnce(): Promise<void> {
  await moveTo(new Date(now.getTime() + 86_400_000));
  const cancel = () => client.putSubscription({ params, body: { plan: null } });
  const { body } = await cancel();
  expect(body).toMatchObject({ subscription: null, invoice_id: expect.stringMatching(/^ivc_/) });
  expect((await cancel()).body).toEqual({ subscription: null, invoice_id: null });
  const first = await client.listInvoices({ params, query: { limit: 1 } });
  expect(first.body.data.map(({ invoice_id }) => invoice_id)).toEqual([body.invoice_id]);
  const cursor = first.body.next_cursor ?? '';
  expect((await client.listInvoices({ params, query: { limit: 1, cursor } })).body).toMatchObject({
    ...{ data: [{ status: 'paid' }], next_cursor: null },
  });
}

it('an organisation goes from its subscription to a paid invoice, with a balanced ledger and evidence for each line', async () => {
  await subscribeOnce();
  await refuseOtherPlans();
  await recordUsage();
  await setBudgets();
  await invoicePeriod();
  await payInvoice();
  await cancelOnce();
});
