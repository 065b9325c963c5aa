import { describe, expect, it } from '@jest/globals';
import type { BudgetId, Digest } from '@countersign/contracts';
import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { eventFactory } from '@countersign/messaging';
import { concludeSettlement, wantedForSettlement } from '../src/decision/conclude-settlement.ts';
import { dispatches, type Dispatch } from '../src/decision/dispatches.ts';
import type { BudgetAmounts, BudgetRow } from '../src/controls/budgets/budget-row.ts';
import { budgets } from '../src/controls/budgets/budgets.ts';
import { reservationOf } from '../src/controls/budgets/reservation.ts';
import { put } from '../src/ledger/control.ts';
import { acme, agent, batchOf, session } from './_batch.ts';

const nowMs = Date.parse('2026-11-21T10:00:00.000Z');
const hash = (letter: string) => `sha256:${letter.repeat(64)}` as Digest;
const id = (name: string) => name as BudgetId; // matches the schema
const amounts = (calls: number, micros: bigint): BudgetAmounts => ({
  ...{ tool_calls: calls, spend_micros: micros, egress_bytes: calls * 100, writes: calls },
});

const decided = {
  ...{ decision_id: 'dec_one', receipt_id: 'rcp_one', kind: 'decision', verdict: 'ALLOW', reason_code: 'ALLOWED' },
  ...{ action: 'model.call', tool: null, resource: 'm', effect_level: 'E1', args_hash: hash('1'), shadow: false },
  ...{ policy_epoch: 1, policy_hash: hash('2'), record_hash: hash('3'), issued_at: '2026-11-21T09:00:00.000Z' },
  ...{ tenant_id: acme, principal_id: agent, session_id: session, spend_micros: '500' },
} as unknown as ReceiptPayload; // nothing else is read
const budget: BudgetRow = {
  ...{ tenant: acme, id: id('money'), subject: 'tenant', window: '1h', approvalRequiredAboveMinor: null },
  ...{ limits: { tool_calls: 10, spend_minor: null, egress_bytes: null, writes: null }, currency: null },
  ...{ used: amounts(3, 30n), reserved: amounts(2, 700n), resetsAtMs: nowMs + 1, revision: 1 },
};
const dispatch: Dispatch = {
  ...{ ulid: 'one', tenant: acme, tools: [], deadlineAtMs: nowMs },
  reservations: [reservationOf(id('money'), amounts(1, 500n))],
};

type Prepared = Parameters<typeof concludeSettlement>[1];
const newEvent = eventFactory({ source: '/governance-kernel' });

/** The sealed settlement and its effects. */
function settled(change: Partial<Prepared> = {}, rows: BudgetRow[] = [budget]) {
  const ending = { outcome: 'completed', outputHash: null, spentMicros: null, newEvent } as const;
  const batch = batchOf(put(dispatches, dispatch), ...rows.map((row) => put(budgets, row)));
  const { payload } = concludeSettlement(batch, { ulid: 'two', nowMs, decided, ...ending, ...change });
  const remaining = batch.changes.map(({ control, row, kind }) => {
    const { used, reserved, resetsAtMs } = row as BudgetRow;
    return control === dispatches ? [kind, row] : [kind, { used, reserved, resetsAtMs }];
  });
  return { payload, left: remaining, told: batch.events.map(({ event }) => event.data) };
}

const gone = ['drop', dispatch];
const took = (used: BudgetAmounts, resetsAtMs = nowMs + 1) => ['put', { used, reserved: amounts(1, 200n), resetsAtMs }];

describe('the settlement of a call', () => {
  it('is a receipt that names the decision, and spends the reservation', () => {
    const { payload, left } = settled();
    expect(payload).toMatchObject({
      ...{ kind: 'outcome', outcome: 'completed', decision_receipt_id: 'rcp_one', receipt_id: 'rcp_two' },
      ...{ issued_at: '2026-11-21T10:00:00.000Z', spend_micros: '500', record_hash: hash('3') },
    });
    expect('output_hash' in payload).toBe(false);
    expect(left).toEqual([gone, took(amounts(4, 530n))]);
  });

  it.each([
    [120n, '120', 150n],
    [0n, '0', 30n],
    [900n, '900', 930n],
  ])('spends the counted amount: %s', (spentMicros, stated, used) => {
    const { payload, left } = settled({ spentMicros });
    expect(payload.spend_micros).toBe(stated);
    expect(left).toEqual([gone, took(amounts(4, used))]);
  });

  it('has no spend when its decision has none', () => {
    const { spend_micros: _none, ...without } = decided;
    expect('spend_micros' in settled({ decided: without, spentMicros: 1n }).payload).toBe(false);
  });

  it('contains the hash of the output', () => {
    expect(settled({ outputHash: hash('4') }).payload.output_hash).toBe(hash('4'));
  });

  it('releases the reservation when its process has died', () => {
    const { payload, left } = settled({ abandoned: true, outcome: 'uncertain' });
    expect(payload).toMatchObject({ outcome: 'uncertain', spend_micros: '0' });
    expect(left).toEqual([gone, took(amounts(3, 30n))]);
  });

  it('counts in the current window', () => {
    const ended = { ...budget, resetsAtMs: nowMs };
    expect(settled({}, [ended]).left).toEqual([gone, took(amounts(1, 500n), nowMs + 3_600_000)]);
  });

  it('succeeds even if a budget was deleted in the meantime', () => {
    expect(settled({}, []).left).toEqual([gone]);
  });

  it('reports a threshold that it reaches', () => {
    const limits = { ...budget.limits, tool_calls: 4 };
    expect(settled({ abandoned: true }, [{ ...budget, limits }]).told).toEqual([]);
    const { told } = settled({}, [{ ...budget, limits }]);
    expect(told).toMatchObject([
      { budget_id: 'money', tenant_id: 'acme', percent: 90, used: 4, reached_at: '2026-11-21T10:00:00.000Z' },
      { budget_id: 'money', tenant_id: 'acme', percent: 100, used: 4, limit: 4 },
    ]);
  });

  it('is refused the second time', () => {
    const prepared = {
      ulid: 'two',
      nowMs,
      decided,
      outcome: 'completed',
      outputHash: null,
      spentMicros: null,
    } as const;
    const again = () => concludeSettlement(batchOf(), { ...prepared, newEvent });
    expect(again).toThrow(expect.objectContaining({ code: 'ILLEGAL_TRANSITION', details: { allowed: [] } }));
  });

  it('reads its dispatch and the budgets with its reservations', () => {
    const sets = wantedForSettlement(decided, [id('money'), id('calls')]).map(({ control, key }) => [
      control.name,
      key,
    ]);
    expect(sets).toEqual([
      ['dispatches', 'one'],
      ['budgets', { tenant: 'acme', id: 'money' }],
      ['budgets', { tenant: 'acme', id: 'calls' }],
    ]);
  });
});
