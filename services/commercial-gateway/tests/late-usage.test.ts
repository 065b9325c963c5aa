import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { BillingCaller } from '../src/billing-deps.ts';
import { cancelSubscription } from '../src/invoicing/cancel-subscription.ts';
import { finalizeInvoice } from '../src/invoicing/finalize-invoice.ts';
import { settleCanceled } from '../src/invoicing/settle-canceled.ts';
import { microsPerUnit } from '../src/metering/micros.ts';
import { monthUnitsMax } from '../src/metering/month-limit.ts';
import { listBilledEvents } from '../src/store/billed-usage.ts';
import { listInvoiceLines } from '../src/store/invoices.ts';
import { findCurrentSubscription } from '../src/store/subscriptions.ts';
import { recordUsage } from '../src/store/usage-events.ts';
import { createSubscription } from '../src/subscriptions/create-subscription.ts';
import { recordSubmittedUsage } from '../src/usage/record-submitted-usage.ts';
import {
  closeMonths,
  findUnsound,
  newCaller,
  openBilling,
  start,
  subscribe,
  testPlan,
  type Billing,
} from './_billing-database.ts';

let billing: Billing;
beforeAll(async () => {
  billing = await openBilling();
});
afterAll(() => billing?.close());

const dayMs = 86_400_000;
const onDay = (day: number) => new Date(start.getTime() + day * dayMs);
const callsOn = (id: string, day: number, units: number) => ({
  ...{ source: '/test', id, meter: 'tool_calls' as const, workspaceId: null, occurredAt: onDay(day) },
  quantityMicros: BigInt(units) * microsPerUnit,
});
const record = ({ orgId }: BillingCaller, events: Parameters<typeof recordUsage>[1]['events']) =>
  billing.database.transaction((tx) => recordUsage(tx, { orgId, events, receivedAt: start }));

async function currentId({ orgId }: BillingCaller) {
  const subscription = await findCurrentSubscription(billing.database.reader, orgId);
  if (subscription === null) throw new Error('There is no subscription');
  return subscription.id;
}

it('usage that arrives after a cancellation is billed once in a last invoice, not in the next subscription', async () => {
  const { deps, database } = billing;
  const caller = newCaller();
  await subscribe(billing, caller);
  const id = await currentId(caller);
  await record(caller, [callsOn('in time', 1, 4)]);
  billing.setTime(onDay(15.5));
  const canceled = await cancelSubscription(deps, { taxPercent: null }, caller);
  // Half a month includes 5 calls. The invoice of the cancellation uses 4 of them. One of the 7 late calls is
  // therefore free, and 6 cost 1 each.
  await record(caller, [callsOn('late', 2, 7), callsOn('after the end', 16, 99)]);
  billing.setTime(onDay(20));
  await createSubscription(deps, { planId: testPlan.plan_id, planVersion: 1, start: 'active' }, caller);
  await record(caller, [callsOn('very late', 3, 2)]);
  const settle = () => settleCanceled(deps, { id, taxPercent: null }, caller);
  billing.setTime(onDay(50));
  expect(await settle()).toBeNull();
  billing.setTime(onDay(15.5 + 36));
  const [first, second] = await Promise.all([settle(), settle()]);
  const late = first ?? second;
  if (late === null || canceled === null) throw new Error('An invoice is missing');
  expect([first, second]).toContain(null);
  expect(late).toMatchObject({ kind: 'late_usage', status: 'draft', subscriptionId: id, totalMinor: 8n });
  expect(late).toMatchObject({ periodStart: canceled.periodStart, periodEnd: canceled.periodEnd });
  const lines = await listInvoiceLines(database.reader, caller.orgId, late.id);
  expect(lines.map(({ kind, quantityMicros }) => [kind, quantityMicros])).toEqual([['usage', 9n * microsPerUnit]]);
  const page = { bounds: late, meter: 'tool_calls' as const, afterSeq: 0n, limit: 10 };
  const events = await listBilledEvents(database.reader, caller.orgId, page);
  expect(events.map((event) => event.id)).toEqual(['late', 'very late']);
  await finalizeInvoice(deps, late.id, caller);
  const [next] = await closeMonths(billing, caller, { months: 1, from: 1 });
  expect(next?.totalMinor).toBe(1_000n);
  expect(await findUnsound(billing, caller)).toEqual([]);
});

it('a cancellation without late usage is settled without an invoice', async () => {
  const { deps } = billing;
  const caller = newCaller();
  await subscribe(billing, caller);
  const id = await currentId(caller);
  billing.setTime(onDay(3));
  await cancelSubscription(deps, { taxPercent: null }, caller);
  billing.setTime(onDay(60));
  expect(await settleCanceled(deps, { id, taxPercent: null }, caller)).toBeNull();
  await record(caller, [callsOn('too late', 1, 50)]);
  expect(await settleCanceled(deps, { id, taxPercent: null }, caller)).toBeNull();
});

it('submitted usage over the monthly limit is rejected by event, and the other usage is still priced', async () => {
  const { deps } = billing;
  const caller = newCaller();
  await subscribe(billing, caller);
  const eventOf = (id: string, quantity: string, day = 1) => ({
    ...{ specversion: '1.0', type: 'usage.recorded.v1', source: '/test', id, time: onDay(day).toISOString() },
    data: { meter: 'seats', quantity },
  });
  const most = 1_000_000_000n;
  const submit = (events: unknown[]) => recordSubmittedUsage(deps, events, caller);
  billing.setTime(onDay(2));
  const full = Array.from({ length: Number(monthUnitsMax / most) }, (_, index) => eventOf(`e${index}`, String(most)));
  expect(await submit(full)).toMatchObject({ stored: full.length, rejections: [] });
  const over = await submit([eventOf('over', '0.000001'), eventOf('e0', String(most))]);
  expect(over).toMatchObject({ stored: 0, duplicates: 1, rejections: [{ index: 0, param: 'data.quantity' }] });
  expect(over.rejections[0]?.message).toBe(
    'seats of 2027-01 would be over 1000000000000 units. Correct the quantity of the event',
  );
  billing.setTime(onDay(33));
  expect(await submit([eventOf('next-month', '1', 32)])).toMatchObject({ stored: 1, rejections: [] });
  const both = await Promise.all(['a', 'b'].map((id) => submit([eventOf(id, String(most), 32)])));
  expect(both.map(({ stored }) => stored)).toEqual([1, 1]);
});
