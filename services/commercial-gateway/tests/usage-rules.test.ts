import { describe, expect, it } from '@jest/globals';
import { MeteredReceipt } from '@countersign/contracts/governance-kernel';
import fc from 'fast-check';
import { parseUsageEvent } from '../src/metering/parse-usage-event.ts';
import { usageOfReceipt } from '../src/metering/usage-of-receipt.ts';

const now = new Date('2027-03-01T12:00:00.000Z');
const dayMs = 86_400_000;
const ago = (ms: number) => new Date(now.getTime() - ms).toISOString();
const event = {
  ...{ specversion: '1.0', type: 'usage.recorded.v1', source: '/gateway/runs', id: 'run-1', time: ago(0) },
  data: { meter: 'run_minutes', quantity: '1.5' },
};

describe('a submitted usage event', () => {
  it('is counted exactly, in millionths of its unit', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 15n), (micros) => {
        const text = micros.toString().padStart(7, '0');
        const quantity = `${text.slice(0, -6)}.${text.slice(-6)}`;
        const parsed = parseUsageEvent({ ...event, data: { meter: 'seats', quantity } }, now);
        expect(parsed).toMatchObject({
          quantityMicros: micros,
          source: '/gateway/runs',
          id: 'run-1',
          workspaceId: null,
        });
      }),
    );
  });

  it.each<[string, object, string]>([
    ['a time 35 days and a millisecond ago', { time: ago(35 * dayMs + 1) }, 'time'],
    ['a time in the future', { time: ago(-301_000) }, 'time'],
    ['a time without milliseconds', { time: '2027-03-01T12:00:00Z' }, 'time'],
    ['a meter that is counted from receipts', { data: { meter: 'decisions', quantity: '1' } }, 'data.meter'],
    ['a source that is reserved for receipts', { source: '/governance-kernel/receipts/decisions' }, 'source'],
    ['an empty id', { id: '' }, 'id'],
    ['a quantity of zero', { data: { meter: 'seats', quantity: '0' } }, 'data.quantity'],
    ['a negative quantity', { data: { meter: 'seats', quantity: '-1' } }, 'data.quantity'],
    ['a number instead of text as quantity', { data: { meter: 'seats', quantity: 1 } }, 'data.quantity'],
    ['a quantity with 7 decimal places', { data: { meter: 'seats', quantity: '0.0000001' } }, 'data.quantity'],
    ['a quantity over the limit', { data: { meter: 'seats', quantity: '1000000000.000001' } }, 'data.quantity'],
    ['an invalid workspace ID', { data: { ...event.data, workspace_id: 'x' } }, 'data.workspace_id'],
    ['an unknown member', { org_id: 'org_other' }, ''],
  ])('with %s is rejected', (_, change, param) => {
    expect(() => parseUsageEvent({ ...event, ...change }, now)).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST', param }),
    );
  });

  it('is accepted when it is exactly 35 days old', () => {
    expect(parseUsageEvent({ ...event, time: ago(35 * dayMs) }, now).occurredAt).toEqual(new Date(ago(35 * dayMs)));
  });
});

describe('a receipt', () => {
  const receipt = {
    ...{ receipt_id: `rcp_${'1'.repeat(26)}`, tenant_id: `wsp_${'2'.repeat(26)}`, issued_at: ago(0) },
    ...{ kind: 'decision', verdict: 'ALLOW', tool: 'mail.send', shadow: false, log_index: 0 },
  };
  const metersOf = (change: object) =>
    usageOfReceipt(MeteredReceipt.parse({ ...receipt, ...change })).map(({ meter, id }) => [meter, id]);
  const id = receipt.receipt_id;

  it('counts an allowed tool call as a decision and as a tool call, with the ID of the receipt', () => {
    expect(metersOf({})).toEqual([
      ['decisions', id],
      ['tool_calls', id],
    ]);
  });

  it.each<[string, object]>([
    ['a denied tool call', { verdict: 'DENY' }],
    ['an escalated tool call', { verdict: 'ESCALATE' }],
    ['a model call', { tool: null }],
  ])('counts %s as a decision only', (_, change) => {
    expect(metersOf(change)).toEqual([['decisions', id]]);
  });

  it.each<[string, object]>([
    ['an outcome', { kind: 'outcome' }],
    ['an approval', { kind: 'approval' }],
    ['a shadow decision', { shadow: true }],
  ])('does not count %s', (_, change) => {
    expect(metersOf(change)).toEqual([]);
  });
});
