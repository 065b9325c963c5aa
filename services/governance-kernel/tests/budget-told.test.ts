import { describe, expect, it } from '@jest/globals';
import type { BudgetRow } from '../src/controls/budgets/budget-row.ts';
import { budgetTerms } from '../src/controls/budgets/budget-terms.ts';
import { budgetUsage } from '../src/controls/budgets/budget-usage.ts';
import { budgets } from '../src/controls/budgets/budgets.ts';
import { recordUsage } from '../src/controls/budgets/record-usage.ts';
import { put, type Change } from '../src/ledger/control.ts';
import { nowMs } from './_approval-row.ts';
import { newBudget, none } from './_budget-row.ts';
import { ledgerOver, refusalTo, ulid } from './_ledger.ts';

const nowText = '2026-03-01T12:00:00.000Z';
const at = (ms: number) => new Date(nowMs + ms).toISOString();
const budget = (changes: object = {}) => newBudget({ resetsAtMs: nowMs + 3_600_000, ...changes });
const stands = (row: BudgetRow): Change[] => [put(budgetTerms, { row, version: 3, updatedAtMs: 1 }), put(budgets, row)];
const use = {
  ...{ event_id: 'e1', occurred_at: nowText, amount_minor: 2, currency: 'EUR' },
  ...{ tool_calls: 3, egress_bytes: 4, writes: 15 },
};
const taken = { tool_calls: 3, spend_micros: 2_000_000n, egress_bytes: 4, writes: 15 };

function reportOf(usage: object, ...rows: Change[]) {
  const { parts, written } = ledgerOver(nowMs, ...rows);
  const done = recordUsage(parts, { tenant: 'acme', id: 'b', by: 'plan', usage: { ...use, ...usage } } as never);
  return { done, written };
}

/** Reports an event, and returns the row that is stored for it. */
async function earlier(usage: object, row: BudgetRow): Promise<Change> {
  const { done, written } = reportOf(usage, ...stands(row));
  await done;
  const [, remaining] = written()[0]?.rows.find(([name]) => name === 'budget_usage') ?? [];
  return put(budgetUsage, remaining as never); // `rows` contains pairs of a name and a row
}

describe('reported usage', () => {
  it('is counted, stored by its event ID, sealed, and reports a reached threshold', async () => {
    const row = budget({ used: { ...none, tool_calls: 1 } });
    const { done, written } = reportOf({}, ...stands(row));
    const after = { ...row, used: { ...taken, tool_calls: 4 } };
    expect(await done).toEqual({ counted: true, budget: { row: after, version: 3, updatedAtMs: 1 } });
    const [{ records, rows, events }] = written() as [ReturnType<typeof written>[number]];
    const name = { tenant: 'acme', budget: 'b', event: 'e1' };
    const fingerprint = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);
    expect(rows).toEqual([
      ['budget_usage', { ...name, fingerprint, counted: true, recordedAtMs: nowMs }],
      ['budgets', after],
    ]);
    expect(records).toMatchObject([
      {
        ...{ tenant_id: 'acme', session_id: 'budgets', principal_id: 'plan', receipt_id: `rcp_${ulid}` },
        ...{ created_at: nowText, intent: { action: 'budget.usage', resource: 'budget:b' } },
      },
    ]);
    expect(records[0]?.intent.facts).toEqual({ ...use, counted: true });
    expect(events).toMatchObject([
      ['kernel.budget.threshold.v1', { amount: 'writes', percent: 75, used: 15, reached_at: nowText }],
    ]);
    const full = reportOf({ event_id: 'e2', tool_calls: 0, writes: 1 }, ...stands(after));
    await full.done;
    expect(full.written()[0]?.events).toEqual([]);
  });

  it.each([
    ['1h', 0, true],
    ['1h', -1, false],
    ['total', -1, true],
  ])('in a window of %s, %d ms after its start, counts: %p', async (window, ms, counted) => {
    const row = budget({ window, resetsAtMs: window === 'total' ? null : nowMs + 3_600_000 });
    const usage = { occurred_at: at(ms) };
    const { done, written } = reportOf(usage, ...stands(row));
    expect(await done).toMatchObject({ counted, budget: { row: { used: counted ? taken : none } } });
    expect(written()[0]).toMatchObject({
      rows: [
        ['budget_usage', { counted }],
        ['budgets', { used: counted ? taken : none }],
      ],
      records: [{ intent: { facts: { counted } } }],
    });
  });

  it.each([true, false])(
    'that is reported again gets the same answer, and counts once (counted: %p)',
    async (counted) => {
      const row = budget({ used: { ...none, writes: 9 } });
      const usage = counted ? {} : { occurred_at: at(-1) };
      const existing = await earlier(usage, row);
      const { done, written } = reportOf(usage, ...stands(row), existing);
      expect(await done).toEqual({ counted, budget: { row, version: 3, updatedAtMs: 1 } });
      expect(written()).toEqual([{ records: [], rows: [], events: [] }]);
      // A repeated event gets its stored answer, even if the currency of the budget has changed since the first report.
      const inDollars = reportOf(usage, ...stands({ ...row, currency: 'USD' }), existing);
      expect(await inDollars.done).toMatchObject({ counted });
    },
  );

  it.each(Object.entries({ tool_calls: 9, amount_minor: 9, egress_bytes: 9, writes: 9, occurred_at: at(1) }))(
    'with a used event ID and a different %s is refused',
    async (name, value) => {
      const row = budget();
      const { done, written } = reportOf({ [name]: value }, ...stands(row), await earlier({}, row));
      expect(await refusalTo(done)).toMatchObject({
        ...{
          code: 'IDEMPOTENCY_KEY_REUSED',
          message: 'This event_id was already reported with other data. Use a new event_id',
        },
      });
      expect(written()).toEqual([{ records: [], rows: [], events: [] }]);
    },
  );

  const ageMaxMs = 35 * 86_400_000;
  const old = 'occurred_at is more than 35 days ago. Usage this old is not recorded';
  const early = 'occurred_at is more than 5 minutes in the future. Check the clock';
  it.each<[object, object, string | null, string]>([
    [{ occurred_at: at(-ageMaxMs) }, {}, null, ''],
    [{ occurred_at: at(-ageMaxMs - 1) }, {}, old, 'occurred_at'],
    [{ occurred_at: at(300_000) }, {}, null, ''],
    [{ occurred_at: at(300_001) }, {}, early, 'occurred_at'],
    [{ amount_minor: 0, currency: null }, {}, null, ''],
    [{ amount_minor: 0 }, {}, null, ''],
    [{ amount_minor: 0, currency: null }, { currency: null }, null, ''],
    [{ currency: null }, {}, 'The budget counts money in EUR', 'currency'],
    [{ currency: 'USD' }, {}, 'The budget counts money in EUR', 'currency'],
    [{ amount_minor: 0, currency: 'USD' }, {}, 'The budget counts money in EUR', 'currency'],
    [{ currency: null }, { currency: null }, 'The budget counts no money', 'currency'],
    [{}, { currency: null }, 'The budget counts no money', 'currency'],
  ])('of %j for a budget with %j has the error %p', async (usage, changes, message, param) => {
    const { done, written } = reportOf(usage, ...stands(budget(changes)));
    if (message === null) expect(await done).toMatchObject({ budget: { version: 3 } });
    else expect(await refusalTo(done)).toMatchObject({ code: 'INVALID_REQUEST', message, param });
    expect(written().flatMap(({ records }) => records)).toHaveLength(message === null ? 1 : 0);
  });

  it('of a missing budget is refused', async () => {
    const told404 = { code: 'NOT_FOUND', message: 'The tenant has no budget with this ID' };
    expect(await refusalTo(reportOf({}).done)).toMatchObject(told404);
  });
});
