import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Instant, ReceiptId, TenantId, WorkspaceId } from '@countersign/contracts';
import type { MeteredReceipt } from '@countersign/contracts/governance-kernel';
import type { BillingCaller } from '../src/billing-deps.ts';
import { listBilledEvents } from '../src/store/billed-usage.ts';
import { recordSubmittedUsage } from '../src/usage/record-submitted-usage.ts';
import { nextReceiptPosition, recordReceipts } from '../src/usage/record-receipts.ts';
import { closeMonths, countRows, newCaller, openBilling, start, subscribe, type Billing } from './_billing-database.ts';

let billing: Billing;
beforeAll(async () => {
  billing = await openBilling();
});
afterAll(() => billing?.close());

const workspaceId = WorkspaceId.parse(`wsp_${'1'.repeat(26)}`);

const receiptAt = (position: number): MeteredReceipt => ({
  ...{ receipt_id: ReceiptId.parse(`rcp_${String(position).padStart(26, '0')}`), kind: 'decision', shadow: false },
  ...{ tenant_id: TenantId.parse(workspaceId), verdict: 'ALLOW', tool: 'mail.send', log_index: position },
  issued_at: Instant.parse('2027-01-05T00:00:00.000Z'),
});

const pageOf = (from: number, to: number) => ({
  ...{ workspaceId, from: BigInt(from), to: BigInt(to) },
  receipts: Array.from({ length: to - from }, (_, index) => receiptAt(from + index)),
});

describe('receipts', () => {
  it('are stored by position, so a repeated page, a page of a second reader and a page after a gap add nothing', async () => {
    const caller = newCaller();
    await subscribe(billing, caller);
    const record = (from: number, to: number) => recordReceipts(billing.deps, pageOf(from, to), caller);
    const place = { orgId: caller.orgId, workspaceId };
    expect(await nextReceiptPosition(billing.database.reader, place)).toBe(0n);
    expect((await Promise.all([record(0, 20), record(0, 20)])).toSorted()).toEqual([false, true]);
    expect(await nextReceiptPosition(billing.database.reader, place)).toBe(20n);
    expect(await record(20, 25)).toBe(true);
    expect(await record(0, 20)).toBe(false);
    expect(await record(30, 35)).toBe(false);
    expect(await countRows(billing, 'usage_events', caller)).toBe(50);
    const [invoice] = await closeMonths(billing, caller, { months: 1 });
    if (invoice === undefined) throw new Error('No invoice was drafted');
    const page = { bounds: invoice, meter: 'tool_calls', afterSeq: 0n, limit: 100 } as const;
    const events = await listBilledEvents(billing.database.reader, caller.orgId, page);
    expect(events.map(({ id }) => id)).toEqual(pageOf(0, 25).receipts.map(({ receipt_id }) => receipt_id));
    expect(invoice.totalMinor).toBe(1_015n);
  });

  it('count once when the log returns them at two positions', async () => {
    const caller = newCaller();
    await recordReceipts(billing.deps, pageOf(0, 3), caller);
    await recordReceipts(billing.deps, { ...pageOf(0, 3), from: 3n, to: 6n }, caller);
    expect(await countRows(billing, 'usage_events', caller)).toBe(6);
  });

  it('are refused when they belong to another workspace, and the position does not move', async () => {
    const caller = newCaller();
    const second = WorkspaceId.parse(`wsp_${'2'.repeat(26)}`);
    const page = { ...pageOf(0, 2), workspaceId: second };
    expect(() => recordReceipts(billing.deps, page, caller)).toThrow(`not of workspace ${second}`);
    expect(await countRows(billing, 'usage_cursors', caller)).toBe(0);
  });
});

describe('submitted events', () => {
  const event = (id: string, change: object = {}) => ({
    ...{ specversion: '1.0', type: 'usage.recorded.v1', source: '/gateway', id, time: start.toISOString() },
    data: { meter: 'run_minutes', quantity: '2.25' },
    ...change,
  });
  const submit = (caller: BillingCaller, events: unknown[]) => recordSubmittedUsage(billing.deps, events, caller);

  it('are stored once, and invalid, foreign and changed events are rejected by their position', async () => {
    const caller = newCaller();
    billing.setTime(start);
    const foreign = event('b', { data: { meter: 'seats', quantity: '1', workspace_id: workspaceId } });
    const first = await submit(caller, [event('a'), event('x', { id: '' }), foreign, event('a')]);
    expect(first).toMatchObject({ stored: 1, duplicates: 1 });
    expect(first.rejections).toMatchObject([
      { index: 1, code: 'INVALID_REQUEST', param: 'id' },
      { index: 2, code: 'INVALID_REQUEST', param: 'data.workspace_id' },
    ]);
    expect(await countRows(billing, 'usage_events', caller)).toBe(1);
    const changed = event('a', { data: { meter: 'run_minutes', quantity: '9' } });
    const second = await submit(caller, [event('c'), changed, event('a')]);
    expect(second).toMatchObject({ stored: 1, duplicates: 1, rejections: [{ index: 1, code: 'ALREADY_EXISTS' }] });
    expect(await countRows(billing, 'usage_events', caller)).toBe(2);
  });

  it('are refused above the limit of a batch', async () => {
    const batch = Array.from({ length: 1_001 }, (_, index) => event(`e${index}`));
    await expect(submit(newCaller(), batch)).rejects.toThrow('events has 1001 members (limit 1000)');
  });
});
