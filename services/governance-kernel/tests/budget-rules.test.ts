import { describe, expect, it } from '@jest/globals';
import { microsOf, minorTaken } from '@countersign/contracts';
import { verifies } from '@countersign/testkit/verifies';
import fc from 'fast-check';
import type { BudgetAmounts, BudgetRow } from '../src/controls/budgets/budget-row.ts';
import { heldBy, reservationOf } from '../src/controls/budgets/reservation.ts';
import { budgetFact, budgetSubjects, reserve, settleReservation, spend } from '../src/controls/budgets/reserve.ts';
import { assertSameMoney, assertTerms } from '../src/controls/budgets/terms.ts';
import { inWindow, windowEndMs } from '../src/controls/budgets/window.ts';
import { limits, newBudget, none } from './_budget-row.ts';

const amounts = ['tool_calls', 'spend_micros', 'egress_bytes', 'writes'] as const;
const demandOf = (value: (amount: (typeof amounts)[number]) => number): BudgetAmounts => ({
  tool_calls: value('tool_calls'),
  spend_micros: BigInt(value('spend_micros')),
  egress_bytes: value('egress_bytes'),
  writes: value('writes'),
});
const limitOf = { ...limits, spend_micros: microsOf(limits.spend_minor) };

/** Whether the budget has room for this demand. */
function holds(budget: BudgetRow, demand: BudgetAmounts): boolean {
  const rest = budgetFact(budget);
  const remaining = [
    [rest.tool_calls_remaining, demand.tool_calls],
    [rest.spend_remaining_micros, demand.spend_micros],
    [rest.egress_remaining_bytes, demand.egress_bytes],
    [rest.writes_remaining, demand.writes],
  ] as const;
  return remaining.every(([most, wanted]) => most === null || wanted <= most);
}

const demand = fc.record({
  tool_calls: fc.nat({ max: 3 }),
  spend_micros: fc.oneof(fc.bigInt(0n, 9n), fc.bigInt(0n, microsOf(9))),
  egress_bytes: fc.nat({ max: 9 }),
  writes: fc.nat({ max: 3 }),
});
const step = fc.oneof(
  fc.record({ kind: fc.constant('reserve' as const), demand }),
  fc.record({ kind: fc.constant('spend' as const), demand }),
  fc.record({ kind: fc.constant('settle' as const), which: fc.nat(), share: fc.integer({ min: 0, max: 100 }) }),
  fc.record({ kind: fc.constant('roll' as const), afterMs: fc.nat({ max: 7_200_000 }) }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** A reservation as open dispatches store it. */
type Lease = ReturnType<typeof reservationOf>;
type State = { budget: BudgetRow; open: Lease[]; nowMs: number };

function take(state: State, taken: Step): State {
  const { budget, open, nowMs } = state;
  switch (taken.kind) {
    case 'reserve':
      if (!holds(budget, taken.demand)) return state;
      return {
        ...state,
        budget: reserve(budget, taken.demand),
        open: [...open, reservationOf(budget.id, taken.demand)],
      };
    case 'spend':
      return holds(budget, taken.demand) ? { ...state, budget: spend(budget, taken.demand) } : state;
    case 'settle': {
      const which = taken.which % Math.max(1, open.length);
      const reservation = open[which];
      if (reservation === undefined) return state;
      const snapshot = heldBy(reservation);
      const settled = settleReservation(budget, snapshot, shareOf(snapshot, taken.share));
      return { ...state, budget: settled, open: open.filter((_, index) => index !== which) };
    }
    case 'roll':
      return { ...state, budget: inWindow(budget, nowMs + taken.afterMs), nowMs: nowMs + taken.afterMs };
  }
}

const shareOf = (whole: BudgetAmounts, percent: number) =>
  demandOf((amount) => Math.floor((Number(whole[amount]) * percent) / 100));

describe('the arithmetic of budgets', () => {
  verifies(
    'kn.budget',
    'used and reserved amounts never exceed the limit and never become negative, in any order of events',
    () => {
      fc.assert(
        fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
          let state: State = { budget: newBudget(), open: [], nowMs: 0 };
          for (const taken of steps) {
            state = take(state, taken);
            const { budget, open } = state;
            for (const amount of amounts) {
              const [used, reserved] = [BigInt(budget.used[amount]), BigInt(budget.reserved[amount])];
              expect(used).toBeGreaterThanOrEqual(0n);
              expect(used + reserved).toBeLessThanOrEqual(BigInt(limitOf[amount]));
              expect(reserved).toBe(open.reduce((sum, snapshot) => sum + BigInt(heldBy(snapshot)[amount]), 0n));
            }
          }
          const released = state.open.reduce(
            (remaining, reservation) => settleReservation(remaining, heldBy(reservation), none),
            state.budget,
          );
          expect(released.reserved).toEqual(none);
        }),
        { numRuns: 500 },
      );
    },
  );

  it('keeps the actual spend when it exceeds the reservation, so that nothing is left', () => {
    const demand = { ...none, spend_micros: microsOf(15) };
    const budget = settleReservation(reserve(newBudget(), demand), demand, { ...none, spend_micros: microsOf(30) });
    expect([budget.used.spend_micros, holds(budget, { ...none, spend_micros: 1n })]).toEqual([microsOf(30), false]);
  });

  verifies('kn.budget', 'a thousand calls of a thousandth of a minor unit cost one minor unit', () => {
    let budget = newBudget();
    for (let calls = 0; calls < 1_000; calls += 1) budget = spend(budget, { ...none, spend_micros: 1_000n });
    expect([budget.used.spend_micros, minorTaken(budget.used.spend_micros)]).toEqual([microsOf(1), 1]);
  });

  it('caps the amounts of a budget without a limit, so that they stay exact', () => {
    let budget = newBudget();
    for (let taken = 0; taken < 3; taken += 1)
      budget = spend(budget, { ...none, egress_bytes: Number.MAX_SAFE_INTEGER });
    expect(budget.used.egress_bytes).toBe(Number.MAX_SAFE_INTEGER);
    const fortune = { ...none, spend_micros: 4_000_000_000_000_000_000n };
    for (let taken = 0; taken < 3; taken += 1) budget = reserve(budget, fortune);
    expect(budget.reserved.spend_micros).toBe(9_000_000_000_000_000_000n);
    const overpaid = settleReservation(newBudget(), { ...fortune, writes: 1 }, none);
    expect([overpaid.reserved, overpaid.used]).toEqual([none, none]);
  });

  it('begins a window at the end of the previous one, and keeps reservations', () => {
    const snapshot = { ...none, tool_calls: 1 };
    const budget = spend(reserve(newBudget(), snapshot), { ...none, tool_calls: 2 });
    const endMs = budget.resetsAtMs ?? 0;
    expect(inWindow(budget, endMs - 1)).toEqual(budget);
    expect(inWindow(budget, endMs)).toEqual({ ...budget, used: none, reserved: snapshot, resetsAtMs: 2 * endMs });
    const total = { ...budget, window: 'total' as const, resetsAtMs: windowEndMs('total', 0) };
    expect(inWindow(total, Number.MAX_SAFE_INTEGER)).toEqual(total);
  });

  it('counts a call in the budgets of its tenant, of its caller as principal and as agent, and of its tools', () => {
    const ofEvery = ['tenant', 'principal:ada', 'agent:ada'];
    expect(budgetSubjects({ principal: 'ada', tools: [] })).toEqual(ofEvery);
    expect(budgetSubjects({ principal: 'ada', tools: ['Files__read', 'files.read'] })).toEqual([
      ...ofEvery,
      ...['Files__read', 'Files.read', 'Files_read', 'files__read', 'files.read', 'files_read'].map(
        (name) => `tool:${name}`,
      ),
    ]);
  });

  it('requires a currency for every limit in money, and keeps the one in which money is counted', () => {
    const terms = {
      subject: 'tenant',
      window: 'total',
      tool_call_limit: 1,
      egress_limit_bytes: 1,
      write_limit: 1,
    } as const;
    const inMoney = (spend: number | null, above: number | null, currency: string | null) => ({
      ...terms,
      spend_limit_minor: spend,
      approval_required_above_minor: above,
      currency,
    });
    for (const refused of [inMoney(0, null, null), inMoney(null, 0, null)])
      expect(() => assertTerms(refused)).toThrow(
        expect.objectContaining({ code: 'INVALID_REQUEST', param: 'currency' }),
      );
    for (const accepted of [inMoney(null, null, null), inMoney(0, 0, 'EUR'), inMoney(null, 1, 'EUR')])
      expect(() => assertTerms(accepted)).not.toThrow();
    const euros = newBudget();
    const change = (counted: bigint, now: BudgetRow, currency: string | null) => () =>
      assertSameMoney(counted, now, { currency });
    for (const currency of ['USD', null])
      expect(change(1n, euros, currency)).toThrow(
        expect.objectContaining({
          code: 'ILLEGAL_TRANSITION',
          param: 'currency',
          details: { currency: 'EUR', allowed: [] },
        }),
      );
    expect(change(1n, euros, 'EUR')).not.toThrow();
    expect(change(0n, euros, 'USD')).not.toThrow();
    expect(change(1n, { ...euros, currency: null }, 'USD')).not.toThrow();
  });

  it.each([
    ['1h', '2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00.000Z'],
    ['1h', '2026-12-31T23:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    ['1h', '2026-12-31T10:30:00.000Z', '2026-12-31T11:00:00.000Z'],
    ['24h', '2026-02-27T12:00:00.000Z', '2026-02-28T00:00:00.000Z'],
    ['24h', '2026-02-28T12:00:00.000Z', '2026-03-01T00:00:00.000Z'],
    ['month', '2026-01-31T12:00:00.000Z', '2026-02-01T00:00:00.000Z'],
    ['month', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
  ] as const)('ends the %s window that contains %s at %s', (window, at, end) => {
    expect(new Date(windowEndMs(window, Date.parse(at)) ?? 0).toISOString()).toBe(end);
  });
});
