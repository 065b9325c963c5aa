import { describe, expect, it } from '@jest/globals';
import type { BudgetId, TenantId } from '@countersign/contracts';
import type { Demand } from '@countersign/policy';
import { verifies } from '@countersign/testkit/verifies';
import fc from 'fast-check';
import type { BudgetRow } from '../src/budgets/budget-row.ts';
import { budgetFact, reserve, settleReservation, spend, type Reservation } from '../src/budgets/reserve.ts';
import { inWindow, windowEndMs } from '../src/budgets/window.ts';

const limit = 20;
const amounts = ['tool_calls', 'spend_minor', 'egress_bytes', 'writes'] as const;
const demandOf = (value: (amount: (typeof amounts)[number]) => number): Demand => ({
  tool_calls: value('tool_calls'),
  spend_minor: value('spend_minor'),
  egress_bytes: value('egress_bytes'),
  writes: value('writes'),
});
const none = demandOf(() => 0);

const newBudget = (limits = demandOf(() => limit)): BudgetRow => ({
  tenant: 'acme' as TenantId,
  id: 'b' as BudgetId,
  subject: 'tenant',
  window: '1h',
  limits,
  approvalRequiredAboveMinor: null,
  currency: 'EUR',
  used: none,
  reserved: none,
  resetsAtMs: windowEndMs('1h', 0),
  revision: 0,
});

/** What the budget gate asks before anything is taken. */
function holds(budget: BudgetRow, demand: Demand): boolean {
  const left = budgetFact(budget);
  const remaining = [
    [left.tool_calls_remaining, demand.tool_calls],
    [left.spend_remaining_minor, demand.spend_minor],
    [left.egress_remaining_bytes, demand.egress_bytes],
    [left.writes_remaining, demand.writes],
  ] as const;
  return remaining.every(([most, wanted]) => most === null || wanted <= most);
}

const demand = fc.record({
  tool_calls: fc.nat({ max: 3 }),
  spend_minor: fc.nat({ max: 9 }),
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

type State = { budget: BudgetRow; open: Reservation[]; nowMs: number };

function take(state: State, taken: Step): State {
  const { budget, open, nowMs } = state;
  switch (taken.kind) {
    case 'reserve':
      if (!holds(budget, taken.demand)) return state;
      return { ...state, budget: reserve(budget, taken.demand), open: [...open, held(budget, taken.demand)] };
    case 'spend':
      return holds(budget, taken.demand) ? { ...state, budget: spend(budget, taken.demand) } : state;
    case 'settle': {
      const which = taken.which % Math.max(1, open.length);
      const reservation = open[which];
      if (reservation === undefined) return state;
      const settled = settleReservation(budget, reservation, shareOf(reservation.demand, taken.share));
      return { ...state, budget: settled, open: open.filter((_, index) => index !== which) };
    }
    case 'roll':
      return { ...state, budget: inWindow(budget, nowMs + taken.afterMs), nowMs: nowMs + taken.afterMs };
  }
}

const held = ({ id }: BudgetRow, of: Demand): Reservation => ({ budget_id: id, demand: of });

const shareOf = (whole: Demand, percent: number) => demandOf((amount) => Math.floor((whole[amount] * percent) / 100));

describe('the arithmetic of budgets', () => {
  verifies('kn.budget', 'used and reserved never pass the limit and never go negative, in any order of events', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let state: State = { budget: newBudget(), open: [], nowMs: 0 };
        for (const taken of steps) {
          state = take(state, taken);
          const { budget, open } = state;
          for (const amount of amounts) {
            expect(budget.used[amount]).toBeGreaterThanOrEqual(0);
            expect(budget.used[amount] + budget.reserved[amount]).toBeLessThanOrEqual(limit);
            expect(budget.reserved[amount]).toBe(
              open.reduce((sum, reservation) => sum + reservation.demand[amount], 0),
            );
          }
        }
        const released = state.open.reduce(
          (left, reservation) => settleReservation(left, reservation, none),
          state.budget,
        );
        expect(released.reserved).toEqual(none);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps what was really spent when it was more than was held, so that nothing is left', () => {
    const demand = { ...none, spend_minor: 15 };
    const reserved = reserve(newBudget(), demand);
    const budget = settleReservation(reserved, held(reserved, demand), { ...none, spend_minor: 30 });
    expect([budget.used.spend_minor, holds(budget, { ...none, spend_minor: 1 })]).toEqual([30, false]);
  });

  it('stays countable however much is asked of a budget without a limit', () => {
    let budget = newBudget();
    for (let taken = 0; taken < 3; taken += 1)
      budget = spend(budget, { ...none, egress_bytes: Number.MAX_SAFE_INTEGER });
    expect(budget.used.egress_bytes).toBe(Number.MAX_SAFE_INTEGER);
  });

  it.each([
    ['1h', '2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00.000Z'],
    ['1h', '2026-12-31T23:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    ['24h', '2026-02-28T12:00:00.000Z', '2026-03-01T00:00:00.000Z'],
    ['month', '2026-01-31T12:00:00.000Z', '2026-02-01T00:00:00.000Z'],
    ['month', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
  ] as const)('ends the %s window that holds %s at %s', (window, at, end) => {
    expect(new Date(windowEndMs(window, Date.parse(at)) ?? 0).toISOString()).toBe(end);
  });
});
