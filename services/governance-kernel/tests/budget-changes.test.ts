import { describe, expect, it } from '@jest/globals';
import { isAppError } from '@countersign/contracts';
import { installationCeiling } from '@countersign/contracts/governance-kernel';
import type { BudgetRow } from '../src/controls/budgets/budget-row.ts';
import { budgetTerms } from '../src/controls/budgets/budget-terms.ts';
import { budgets } from '../src/controls/budgets/budgets.ts';
import { changeBudget } from '../src/controls/budgets/change-budget.ts';
import { setInstallationCeiling } from '../src/controls/budgets/set-installation-ceiling.ts';
import { standingBudget, wantedBudget } from '../src/controls/budgets/standing-budget.ts';
import { put, type Change } from '../src/ledger/control.ts';
import { nowMs } from './_approval-row.ts';
import { batchOf } from './_batch.ts';
import { newBudget, none } from './_budget-row.ts';
import { ledgerOver, refusalTo, ulid } from './_ledger.ts';

const hourEndMs = Date.parse('2026-03-01T13:00:00.000Z');
const nowText = '2026-03-01T12:00:00.000Z';
const terms = {
  ...{ subject: 'tenant', window: '1h', tool_call_limit: 1, spend_limit_minor: 2, currency: 'EUR' },
  ...{ egress_limit_bytes: 3, write_limit: 4, approval_required_above_minor: 5 },
};
const rowOfTerms = {
  ...{ subject: 'tenant', window: '1h', approvalRequiredAboveMinor: 5, currency: 'EUR' },
  limits: { tool_calls: 1, spend_minor: 2, egress_bytes: 3, writes: 4 },
};
const budget = (changes: object = {}) => newBudget({ resetsAtMs: hourEndMs, ...changes });
const stands = (row: BudgetRow, version = 3): Change[] => [
  put(budgetTerms, { row, version, updatedAtMs: 1 }),
  put(budgets, row),
];
const many = (count: number, prefix = 'other-', of: object = {}) =>
  Array.from({ length: count }, (_, nth) => put(budgets, budget({ id: `${prefix}${nth}`, ...of })));

/** The result of a change to new terms. `version` is the version that `versionAfter` returns. */
async function changed(version: number | null, request: object = {}, ...rows: Change[]) {
  const { parts, written } = ledgerOver(nowMs, ...rows);
  const seen: unknown[] = [];
  const versionAfter = (...args: unknown[]) => {
    seen.push(args);
    return version;
  };
  const who = { tenant: 'acme', id: 'b', terms, by: 'ann', carryOn: (row: BudgetRow) => row };
  const done = changeBudget(parts, { ...who, versionAfter, ...request } as never); // strings without brands
  const refused = await done.then(
    () => null,
    () => refusalTo(done),
  );
  return { done: refused === null ? await done : null, refused, seen, written: written()[0] };
}

describe('a budget', () => {
  it('is created unused with its terms, and its creation is sealed', async () => {
    const { done, seen, written } = await changed(1);
    const row = {
      ...rowOfTerms,
      tenant: 'acme',
      id: 'b',
      used: none,
      reserved: none,
      resetsAtMs: hourEndMs,
      revision: 0,
    };
    const stored = { row, version: 1, updatedAtMs: nowMs };
    expect(done).toEqual({ budget: stored, isNew: true });
    expect(seen).toEqual([[null, terms]]);
    expect(written?.rows).toEqual([
      ['budget_terms', stored],
      ['budgets', row],
    ]);
    expect(written?.events).toEqual([]);
    expect(written?.records).toMatchObject([
      {
        ...{ tenant_id: 'acme', session_id: 'budgets', principal_id: 'ann', created_at: nowText, kind: 'policy' },
        ...{ receipt_id: `rcp_${ulid}`, verdict: 'ALLOW' },
        intent: { action: 'budget.change', resource: 'budget:b' },
      },
    ]);
    expect(written?.records[0]?.intent.facts).toEqual({ version: 1, ...terms });
  });

  it('has version 1 by default', async () => {
    expect((await changed(null)).done).toMatchObject({ isNew: true, budget: { version: 1 } });
  });

  it('of all tenants is recorded in the chain of the system, and a tool in its subject gets its canonical name', async () => {
    const { done, written } = await changed(1, { tenant: '*', terms: { ...terms, subject: 'tool:Files__READ' } });
    expect(done?.budget.row).toMatchObject({ tenant: '*', subject: 'tool:files.read' });
    expect(written?.records).toMatchObject([{ tenant_id: 'system' }]);
    expect(written?.records[0]?.intent.facts).toMatchObject({ subject: 'tool:files.read' });
  });

  const used = { ...none, tool_calls: 2 };
  it('continues to count under new terms, from the usage that `carryOn` computes', async () => {
    const row = budget({ used, reserved: { ...none, writes: 1 }, revision: 9, subject: 'agent:ann' });
    const carried = { ...row, used: { ...used, writes: 3 }, currency: 'CHF', subject: 'tool:a' };
    const { done, seen, written } = await changed(7, { carryOn: () => carried }, ...stands(row));
    expect(seen).toEqual([[{ row, version: 3, updatedAtMs: 1 }, terms]]);
    const now = { ...row, ...rowOfTerms, used: carried.used };
    expect(done).toEqual({ budget: { row: now, version: 7, updatedAtMs: nowMs }, isNew: false });
    expect(written?.records[0]?.intent.facts).toEqual({ version: 7, ...terms });
    expect(written?.events).toMatchObject([
      ['kernel.budget.threshold.v1', { amount: 'tool_calls', percent: 75, used: 2, limit: 1 }],
      ['kernel.budget.threshold.v1', { amount: 'tool_calls', percent: 90 }],
      ['kernel.budget.threshold.v1', { amount: 'tool_calls', percent: 100 }],
      ['kernel.budget.threshold.v1', { amount: 'writes', percent: 75, used: 3, limit: 4 }],
    ]);
  });

  it('does not report a reached threshold again', async () => {
    const limits = { tool_calls: 2, spend_minor: null, egress_bytes: null, writes: null };
    const { written } = await changed(4, {}, ...stands(budget({ used, limits })));
    expect(written?.events).toEqual([]);
    expect(written?.rows).toHaveLength(2);
  });

  it('with equal terms is confirmed, and nothing is sealed', async () => {
    const row = budget({ used });
    const { done, written } = await changed(null, {}, ...stands(row));
    expect(done).toEqual({ budget: { row, version: 3, updatedAtMs: 1 }, isNew: false });
    expect(written).toEqual({ records: [], rows: [], events: [] });
  });

  it.each([
    ['1h', nowMs + 1, nowMs + 1],
    ['24h', nowMs + 1, hourEndMs],
    ['total', null, hourEndMs],
    ['1h', nowMs, hourEndMs],
  ])('of the window %s that ends at %p gets a window of an hour that ends at %p', async (window, resetsAtMs, ends) => {
    const { done } = await changed(4, {}, ...stands(budget({ window, resetsAtMs })));
    expect(done?.budget.row).toMatchObject({ window: '1h', resetsAtMs: ends });
  });

  it('starts from zero after its window', async () => {
    const { done, seen } = await changed(4, {}, ...stands(budget({ used, resetsAtMs: nowMs })));
    expect(done?.budget.row).toMatchObject({ used: none, resetsAtMs: hourEndMs });
    expect(seen).toMatchObject([[{ row: { used: none } }, terms]]);
  });

  it('requires a currency for a spend limit', async () => {
    const request = { terms: { ...terms, currency: null } };
    expect((await changed(1, request)).refused).toMatchObject({ code: 'INVALID_REQUEST', param: 'currency' });
  });

  const full = {
    ...{ code: 'ILLEGAL_TRANSITION', message: 'A subject has at most 16 budgets. Change one of them' },
    ...{ param: 'subject', details: { allowed: [] } },
  };
  const ceiling = { id: 'ceiling.new' };
  const moved = budget({ subject: 'agent:ann' });
  it.each<[string, object, Change[], object | null]>([
    ['beside fifteen others', {}, many(15), null],
    ['beside sixteen others', {}, many(16), full],
    ['beside sixteen budgets of another subject', {}, many(16, 'other-', { subject: 'agent:ann' }), null],
    ['beside sixteen ceilings', {}, many(16, 'ceiling.'), null],
    ['as a ceiling beside sixteen budgets', ceiling, many(16), null],
    ['as a ceiling beside sixteen ceilings', ceiling, many(16, 'ceiling.'), full],
    ['as one of sixteen existing budgets', {}, [...many(15), ...stands(budget())], null],
    ['after a move from another subject, beside sixteen others', {}, [...many(16), ...stands(moved)], full],
    ['after a move from another subject, beside fifteen others', {}, [...many(15), ...stands(moved)], null],
  ])('is accepted unless its subject has sixteen others of its kind: %s', async (_what, request, rows, report) => {
    const { refused, written } = await changed(1, request, ...rows);
    if (report === null) expect(refused).toBeNull();
    else expect(refused).toMatchObject(report);
    expect(written?.records).toHaveLength(report === null ? 1 : 0);
  });

  it('is read only if both its terms and its amounts are stored', () => {
    const key = { tenant: 'acme', id: 'b' } as never; // plain strings instead of branded ones
    const row = budget({ used });
    const [ofTerms, ofAmounts] = stands(budget()) as [Change, Change];
    const found = (...rows: Change[]) => standingBudget(batchOf(...rows), key, nowMs);
    expect([found(ofTerms), found(ofAmounts), found()]).toEqual([null, null, null]);
    expect(found(ofTerms, put(budgets, row))).toEqual({ row, version: 3, updatedAtMs: 1 });
    expect(wantedBudget(key).map(({ control, key: of }) => [control.name, of])).toEqual([
      ['budget_terms', key],
      ['budgets', key],
    ]);
  });
});

describe('the ceiling of the installation', () => {
  const limit = { limitMinor: 500, currency: 'EUR', window: 'month' } as const;
  const open = { tool_calls: null, spend_minor: 500, egress_bytes: null, writes: null };
  const monthEndMs = Date.parse('2026-04-01T00:00:00.000Z');
  const row = newBudget({
    ...{ tenant: '*', id: installationCeiling, window: 'month', limits: open, resetsAtMs: monthEndMs },
  });
  const set = async (request: object, ...rows: Change[]) => {
    const { parts, written } = ledgerOver(nowMs, ...rows);
    const refused = await setInstallationCeiling(parts, { ...limit, ...request }).catch((cause: unknown) => cause);
    return { refused, written: written()[0] };
  };

  it('equals the configuration, and limits only money', async () => {
    const { written } = await set({});
    expect(written?.rows).toEqual([
      ['budget_terms', { row, version: 1, updatedAtMs: nowMs }],
      ['budgets', row],
    ]);
    expect(written?.records).toMatchObject([
      {
        ...{ tenant_id: 'system', principal_id: 'operator' },
        intent: { action: 'budget.change', resource: `budget:${installationCeiling}` },
      },
    ]);
    expect(written?.records[0]?.intent.facts).toEqual({
      ...{ version: 1, subject: 'tenant', window: 'month', spend_limit_minor: 500, currency: 'EUR' },
      ...{ tool_call_limit: null, egress_limit_bytes: null, write_limit: null, approval_required_above_minor: null },
    });
  });

  it('is unchanged when the configuration is equal, and gets a new version when it differs', async () => {
    expect((await set({}, ...stands(row))).written).toEqual({ records: [], rows: [], events: [] });
    const { written } = await set({ limitMinor: 501 }, ...stands(row));
    expect(written?.rows).toMatchObject([
      ['budget_terms', { version: 4 }],
      ['budgets', { limits: { spend_minor: 501 } }],
    ]);
  });

  it('starts from zero in a different currency, which is a configuration error while calls are in progress', async () => {
    const spent = { ...none, spend_micros: 5n };
    const { written } = await set({ currency: 'CHF' }, ...stands({ ...row, used: spent }));
    expect(written?.rows).toMatchObject([
      ['budget_terms', {}],
      ['budgets', { currency: 'CHF', used: none }],
    ]);
    const { refused } = await set({ currency: 'CHF' }, ...stands({ ...row, reserved: spent }));
    expect(refused).toMatchObject({
      name: 'ConfigError',
      problems: [
        'the ceiling of model spend cannot be set while calls are in progress: The budget already counts money in a different currency',
      ],
    });
  });

  it('reports every other fault unchanged', async () => {
    const { parts } = ledgerOver(nowMs);
    const broken = () => {
      throw new Error('the clock stands');
    };
    const cause = await setInstallationCeiling({ ...parts, clock: broken }, limit).catch((error: unknown) => error);
    expect([isAppError(cause), String(cause)]).toEqual([false, 'Error: the clock stands']);
  });
});
