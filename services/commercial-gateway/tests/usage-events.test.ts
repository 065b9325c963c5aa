import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Meter } from '@countersign/contracts/commercial-gateway';
import { interleaved } from '@countersign/testkit/interleaved';
import { verifies } from '@countersign/testkit/verifies';
import fc from 'fast-check';
import type { BillingCaller } from '../src/billing-deps.ts';
import { microsPerUnit } from '../src/metering/micros.ts';
import type { UsageEvent } from '../src/metering/usage-event.ts';
import { listBilledEvents } from '../src/store/billed-usage.ts';
import { listInvoiceLines, type StoredInvoice } from '../src/store/invoices.ts';
import { advanceUsageCursor, lockUsageHead, markUsageBilled, recordUsage } from '../src/store/usage-events.ts';
import { createSubscription } from '../src/subscriptions/create-subscription.ts';
import { moveSubscription } from '../src/subscriptions/move-subscription.ts';
import {
  closeMonths,
  countRows,
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

const eventOf = (id: string, day: number, units = 1): UsageEvent => ({
  ...{ source: '/test', id, meter: 'tool_calls', workspaceId: null, occurredAt: onDay(day) },
  quantityMicros: BigInt(units) * microsPerUnit,
});

const record = ({ orgId }: BillingCaller, events: readonly UsageEvent[]) =>
  billing.database.transaction((tx) => recordUsage(tx, { orgId, events, receivedAt: start }));

/** Returns the events that each usage line bills, read in pages of three. */
async function billedIds({ orgId }: BillingCaller, invoice: StoredInvoice, meter: Meter = 'tool_calls') {
  const found: { id: string; quantityMicros: bigint }[] = [];
  for (let afterSeq = 0n; ;) {
    const page = { bounds: invoice, meter, afterSeq, limit: 3 };
    const events = await listBilledEvents(billing.database.reader, orgId, page);
    found.push(...events);
    const last = events.at(-1);
    if (last === undefined) break;
    afterSeq = last.seq;
  }
  const [line] = (await listInvoiceLines(billing.database.reader, orgId, invoice.id)).filter(
    (candidate) => candidate.meter === meter,
  );
  expect(found.reduce((sum, { quantityMicros }) => sum + quantityMicros, 0n)).toBe(line?.quantityMicros ?? 0n);
  return found.map(({ id }) => id).toSorted();
}

describe('usage events', () => {
  verifies('cg.metering', 'give equal totals and equal lines when they are repeated and reordered', async () => {
    const events = [4, 8, 15, 16, 23].map((units, index) => eventOf(`e${index}`, index * 5, units));
    const totals = new Set<string>();
    const deliveries = fc.sample(
      fc
        .array(fc.nat(events.length - 1), { maxLength: 10 })
        .map((doubled) => [...events, ...doubled.flatMap((index) => events[index] ?? [])])
        .chain((all) => fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length })),
      12,
    );
    for (const delivered of deliveries) {
      const caller = newCaller();
      await subscribe(billing, caller);
      for (let index = 0; index < delivered.length; index += 3) await record(caller, delivered.slice(index, index + 3));
      const [invoice] = await closeMonths(billing, caller, { months: 1 });
      if (invoice === undefined) throw new Error('No invoice was drafted');
      expect(await billedIds(caller, invoice)).toEqual(events.map(({ id }) => id));
      totals.add(String(invoice.totalMinor));
    }
    expect([...totals]).toEqual(['1056']);
  });

  it('are stored once, and a repeated ID with other contents is reported and not stored', async () => {
    const caller = newCaller();
    const first = eventOf('e1', 1);
    expect(await record(caller, [first, first])).toEqual({ stored: 1, duplicates: 1, conflicts: [], overLimit: [] });
    const changed = { ...first, quantityMicros: 5n };
    expect(await record(caller, [changed, eventOf('e2', 1)])).toEqual({
      ...{ stored: 1, duplicates: 1, conflicts: [changed], overLimit: [] },
    });
    expect(await record(newCaller(), [changed])).toEqual({ stored: 1, duplicates: 0, conflicts: [], overLimit: [] });
    const row = await billing.database.reader.usageEvent.findFirst({ where: { orgId: caller.orgId, id: 'e1' } });
    expect(row?.quantityMicros).toBe(microsPerUnit);
  });

  it('with the same ID from two sources are two events', async () => {
    const caller = newCaller();
    const event = eventOf('e1', 1);
    expect(await record(caller, [event, { ...event, source: '/other' }])).toMatchObject({ stored: 2 });
  });

  it('are billed once in the next period when they arrive after their period was billed', async () => {
    const caller = newCaller();
    await subscribe(billing, caller);
    await record(caller, [eventOf('in time', 3, 20), eventOf('of the next month', 40, 30)]);
    const [january] = await closeMonths(billing, caller, { months: 1 });
    await record(caller, [eventOf('late', 4, 40), eventOf('early', 70, 50)]);
    const [february] = await closeMonths(billing, caller, { months: 1, from: 1 });
    await record(caller, [eventOf('late again', 41, 60)]);
    const [march] = await closeMonths(billing, caller, { months: 1, from: 2 });
    if (january === undefined || february === undefined || march === undefined) throw new Error('Three months');
    expect(await billedIds(caller, january)).toEqual(['in time']);
    expect(await billedIds(caller, february)).toEqual(['late', 'of the next month']);
    expect(await billedIds(caller, march)).toEqual(['early', 'late again']);
    expect([january, february, march].map(({ totalMinor }) => totalMinor)).toEqual([1_010n, 1_060n, 1_100n]);
  });

  it('of a trial are free, even when they arrive after its end', async () => {
    const caller = newCaller();
    billing.setTime(start);
    await createSubscription(billing.deps, { planId: testPlan.plan_id, planVersion: 1, start: 'trial' }, caller);
    await record(caller, [eventOf('in the trial', 3, 500)]);
    billing.setTime(onDay(14));
    const { anchorAt } = await moveSubscription(billing.deps, 'activate', caller);
    expect(anchorAt).toEqual(onDay(14));
    await record(caller, [eventOf('late of the trial', 4, 500), eventOf('billed', 15, 20)]);
    billing.setTime(onDay(14 + 31));
    const [invoice] = await closeMonths(billing, caller, { months: 1, from: 1 });
    if (invoice === undefined) throw new Error('No invoice was drafted');
    expect(await billedIds(caller, invoice)).toEqual(['billed']);
  });

  it('are billed even when they commit while the period is closed', async () => {
    const caller = newCaller();
    await subscribe(billing, caller);
    await record(caller, [eventOf('e1', 1)]);
    const hold = `SELECT FROM usage_heads WHERE org_id = '${caller.orgId}' FOR UPDATE`;
    const close = async () => {
      const [invoice] = await closeMonths(billing, caller, { months: 1 });
      return invoice;
    };
    const add = () => record(caller, [eventOf('e2', 2)]);
    const { admin: holder, scratch } = billing;
    const [, closed] = await interleaved({ holder, role: scratch.role, hold }, add, close);
    if (closed?.status !== 'fulfilled') throw new Error('The period was not closed');
    const invoice = closed.value as StoredInvoice; // the result of close()
    const [next] = await closeMonths(billing, caller, { months: 1, from: 1 });
    if (next === undefined) throw new Error('No invoice was drafted');
    const billed = [...(await billedIds(caller, invoice)), ...(await billedIds(caller, next))];
    expect(billed.toSorted()).toEqual(['e1', 'e2']);
  });

  it('are stored once and numbered without a gap when two writers deliver them at once', async () => {
    const caller = newCaller();
    const events = Array.from({ length: 8 }, (_, index) => eventOf(`e${index}`, index));
    const batches = events.flatMap((event, index) => [[event], events.slice(index)]);
    await Promise.all(batches.map((batch) => record(caller, batch)));
    const rows = await billing.database.reader.usageEvent.findMany({ where: { orgId: caller.orgId } });
    expect(rows.map(({ seq }) => Number(seq)).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await countRows(billing, 'usage_events', caller)).toBe(8);
  });

  it('keep the latest time up to which they are billed', async () => {
    const { orgId } = newCaller();
    const mark = (until: Date) =>
      billing.database.transaction(async (tx) => {
        const { lastSeq } = await lockUsageHead(tx, orgId);
        await markUsageBilled(tx, orgId, { lastSeq, until });
      });
    await mark(onDay(2));
    await mark(onDay(2));
    await expect(mark(onDay(1))).rejects.toThrow('is billed beyond');
  });

  it('cannot be changed by the service', async () => {
    const change = billing.database.transaction((tx) => tx.usageEvent.deleteMany({ where: { id: 'e1' } }));
    await expect(change).rejects.toThrow('permission denied');
  });
});

describe('the read position of a source', () => {
  it('moves once when two readers read the same page', async () => {
    const { orgId } = newCaller();
    const move = (from: bigint, to: bigint) =>
      billing.database.transaction((tx) =>
        advanceUsageCursor(tx, { orgId, source: '/receipts', from, to, now: start }),
      );
    expect((await Promise.all([move(0n, 5n), move(0n, 5n)])).toSorted()).toEqual([false, true]);
    expect(await move(0n, 9n)).toBe(false);
    expect(await move(5n, 9n)).toBe(true);
  });
});
