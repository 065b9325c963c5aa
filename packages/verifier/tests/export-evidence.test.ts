import { expect, it } from '@jest/globals';
import { claimedReceiptId } from '../src/verify-chain.ts';
import { ExportEvidence } from '../src/export-evidence.ts';
import type { OpenedReceipt } from '../src/verify-receipt.ts';

const opened = (nr: number, kind = 'decision') =>
  ({
    payload: { kind, receipt_id: `rcp_${nr}`, issued_at: `2026-02-0${nr}` },
    key: { key_id: `key_${nr % 2}` },
  }) as unknown as OpenedReceipt; // only the counted members
const record = {} as never; // only its presence counts

it('the content of an export is counted, with the first missing part', () => {
  const evidence = new ExportEvidence();
  evidence.take(opened(3), { record, before: '2026-01-02', logged: '2026-03-01' });
  evidence.take(opened(1, 'outcome'), { record: undefined, before: null, logged: null });
  evidence.take(opened(5, 'break_glass'), { record: undefined, before: '2026-01-03', logged: '2026-03-03' });
  evidence.take(opened(4), { record: undefined, before: '2026-01-03', logged: '2026-03-02' });
  evidence.take(opened(2, 'break_glass'), { record, before: null, logged: null });
  expect(evidence).toMatchObject({
    ...{ records: 2, proofs: 3, keys: new Set(['key_1', 'key_0']) },
    bare: { count: 2, first: 'rcp_5' },
    unproven: { count: 2, first: 'rcp_1' },
    brokenGlass: { count: 2, first: 'rcp_5' },
    times: { first: '2026-02-01', last: '2026-02-05', logged_after: null, logged_by: '2026-03-03' },
  });
});

it('no times are reported without receipts, and no bounds from the log when it has none of the receipts', () => {
  const evidence = new ExportEvidence();
  expect(evidence.times).toBeNull();
  evidence.take(opened(2), { record, before: null, logged: null });
  expect(evidence.times).toEqual({ first: '2026-02-02', last: '2026-02-02', logged_after: null, logged_by: null });
});

it('the log gives a lower bound for all receipts only if it has one for each', () => {
  const evidence = new ExportEvidence();
  evidence.take(opened(2), { record, before: '2026-01-03', logged: '2026-03-01' });
  evidence.take(opened(3), { record, before: '2026-01-02', logged: '2026-03-01' });
  evidence.take(opened(4), { record, before: '2026-01-04', logged: '2026-03-01' });
  expect(evidence.times?.logged_after).toBe('2026-01-02');
});

it.each<[unknown, string | null]>([
  [{ payload: { receipt_id: 'rcp_1' } }, 'rcp_1'],
  [{ payload: { receipt_id: 1 } }, null],
  [{ payload: {} }, null],
  [{ payload: null }, null],
  [{ payload: 'rcp_1' }, null],
  [{}, null],
  [null, null],
  ['rcp_1', null],
  [undefined, null],
])('the receipt id that %j claims is %j', (receipt, id) => {
  expect(claimedReceiptId(receipt)).toBe(id);
});
