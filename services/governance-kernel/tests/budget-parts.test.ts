import { describe, expect, it } from '@jest/globals';
import type { BudgetId, TenantId } from '@countersign/contracts';
import { installationCeiling } from '@countersign/contracts/governance-kernel';
import { budgetTerms } from '../src/controls/budgets/budget-terms.ts';
import { budgetUsage } from '../src/controls/budgets/budget-usage.ts';
import { budgetView } from '../src/controls/budgets/budget-view.ts';
import { budgets } from '../src/controls/budgets/budgets.ts';
import { budgetKey, isInstallationCeiling, readModelSpend } from '../src/controls/budgets/installation-ceiling.ts';
import { amountsOf, budgetFact, remainderOf } from '../src/controls/budgets/reserve.ts';
import { canonicalSubject, countedIn, sameTerms, type BudgetTerms } from '../src/controls/budgets/terms.ts';
import { thresholdsReached } from '../src/controls/budgets/thresholds.ts';
import { digest, refusalOf } from './_approval-row.ts';
import { newBudget, none } from './_budget-row.ts';

const hourMs = 3_600_000;
const open = { tool_calls: null, spend_minor: null, egress_bytes: null, writes: null };
const used = { tool_calls: 1, spend_micros: 2_000_001n, egress_bytes: 3, writes: 4 };
const reserved = { tool_calls: 5, spend_micros: 6_000_000n, egress_bytes: 7, writes: 8 };
const ceiling = installationCeiling as BudgetId;

describe('the remainder of a budget', () => {
  const row = newBudget({ used, reserved, approvalRequiredAboveMinor: 9 });
  const remaining = { tool_calls_remaining: 14, egress_remaining_bytes: 10, writes_remaining: 8 };
  const rest = { budget_id: 'b', approval_required_above_minor: 9, currency: 'EUR' };

  it('is its limit minus used and reserved amounts', () => {
    expect(budgetFact(row)).toEqual({ ...rest, ...remaining, spend_remaining_micros: 11_999_999n });
    expect(remainderOf(row)).toEqual({ ...rest, ...remaining, spend_remaining_micros: '11999999' });
  });

  it('is `null` without a limit, and for the budget of all tenants', () => {
    const nothing = {
      ...{ tool_calls_remaining: null, spend_remaining_micros: null, egress_remaining_bytes: null },
      writes_remaining: null,
    };
    expect(budgetFact(newBudget({ ...row, limits: open }))).toEqual({ ...rest, ...nothing });
    expect(remainderOf(newBudget({ ...row, limits: open }))).toEqual({ ...rest, ...nothing });
    const hidden = { budget_id: ceiling, approval_required_above_minor: null, currency: null };
    expect(remainderOf(newBudget({ ...row, id: ceiling }))).toEqual({ ...hidden, ...nothing });
  });

  it('is reduced by the amounts of a call, and by no money when the call has no price', () => {
    expect(amountsOf(used)).toEqual(used);
    expect(amountsOf({ ...used, spend_micros: null })).toEqual({ ...used, spend_micros: 0n });
  });
});

describe('a budget as callers see it', () => {
  const shown = (changes: object, nowMs = 0) =>
    budgetView({ row: newBudget(changes), version: 3, updatedAtMs: 1 }, nowMs);

  it('has its terms, its usage, its remainder and the start of its next window', () => {
    expect(shown({ used, reserved, approvalRequiredAboveMinor: 9 })).toEqual({
      ...{ budget_id: 'b', subject: 'tenant', window: '1h', tool_call_limit: 20, spend_limit_minor: 20 },
      ...{ currency: 'EUR', egress_limit_bytes: 20, write_limit: 20, approval_required_above_minor: 9 },
      used: { tool_calls: 1, spend_minor: 3, egress_bytes: 3, writes: 4 },
      reserved: { tool_calls: 5, spend_minor: 6, egress_bytes: 7, writes: 8 },
      remaining: { tool_calls: 14, spend_minor: 11, egress_bytes: 10, writes: 8 },
      ...{ resets_at: '1970-01-01T01:00:00.000Z', version: 3, updated_at: '1970-01-01T00:00:00.001Z' },
    });
    expect(shown({ used, reserved }, hourMs)).toMatchObject({
      used: { tool_calls: 0, spend_minor: 0, egress_bytes: 0, writes: 0 },
      reserved: { tool_calls: 5 },
      resets_at: '1970-01-01T02:00:00.000Z',
    });
  });

  it('has nothing left when usage exceeds the limit, and no remainder without a limit', () => {
    const beyond = { tool_calls: 99, spend_micros: 20_000_001n, egress_bytes: 99, writes: 99 };
    const nothing = { tool_calls: 0, spend_minor: 0, egress_bytes: 0, writes: 0 };
    expect(shown({ used: beyond }).remaining).toEqual(nothing);
    expect(shown({ used: { ...beyond, spend_micros: 25_000_000n } }).remaining).toEqual(nothing);
    expect(shown({ used: beyond, limits: open, resetsAtMs: null })).toMatchObject({ remaining: open, resets_at: null });
  });
});

describe('the subject of a budget', () => {
  it.each([
    ['tenant', 'tenant'],
    ['principal:ann', 'principal:ann'],
    ['agent:Ann', 'agent:Ann'],
    ['principal:..', 'principal:..'],
    ['tool:Files__READ', 'tool:files.read'],
    ['tool:a', 'tool:a'],
    ['not tool:a', 'not tool:a'],
  ])('%s is stored as %s', (subject, kept) => {
    expect(canonicalSubject(subject)).toBe(kept);
  });

  it.each(['principal:', 'agent:', 'tool:', 'agent: ann', 'principal:a\nb', 'tool:a\nb', 'tool:..'])(
    '%j is refused, because no call has it',
    (subject) => {
      expect(refusalOf(() => canonicalSubject(subject))).toMatchObject({ code: 'INVALID_REQUEST', param: 'subject' });
    },
  );
});

describe('the terms of a budget', () => {
  const terms: BudgetTerms = {
    ...{ subject: 'tenant', window: '1h', tool_call_limit: 20, spend_limit_minor: 20, currency: 'EUR' },
    ...{ egress_limit_bytes: 20, write_limit: 20, approval_required_above_minor: null },
  };

  it('are equal when each term is equal', () => {
    expect(sameTerms(newBudget({ used, revision: 9 }), terms)).toBe(true);
    const changes = {
      ...{ subject: 'tool:a', window: 'total', tool_call_limit: 1, spend_limit_minor: 2, currency: 'USD' },
      ...{ egress_limit_bytes: 3, write_limit: 4, approval_required_above_minor: 5 },
    };
    for (const [name, value] of Object.entries(changes))
      expect([name, sameTerms(newBudget(), { ...terms, [name]: value })]).toEqual([name, false]);
  });

  it('count money from zero in a different currency, and are refused while money is reserved', () => {
    const row = newBudget({ used });
    expect(countedIn(row, terms)).toBe(row);
    const inDollars = { ...terms, currency: 'USD' };
    expect(countedIn(row, inDollars)).toEqual({ ...row, used: { ...used, spend_micros: 0n } });
    expect(refusalOf(() => countedIn(newBudget({ used, reserved }), inDollars))).toEqual({
      code: 'ILLEGAL_TRANSITION',
      param: 'currency',
      details: { currency: 'EUR', allowed: [] },
    });
  });
});

describe('a threshold', () => {
  const limits = { ...open, tool_calls: 4, spend_minor: 4 };
  const after = newBudget({ limits, used: { ...none, tool_calls: 3, spend_micros: 3_000_000n } });

  it('is reported with the amount, the usage and the limit', () => {
    expect(thresholdsReached(null, after)).toEqual([
      { amount: 'tool_calls', percent: 75, used: 3, limit: 4 },
      { amount: 'spend_minor', percent: 75, used: 3, limit: 4 },
    ]);
  });

  it('is reported when a lower limit makes the usage reach it, and not again without a change', () => {
    const before = newBudget({ ...after, limits: { ...limits, tool_calls: 9 } });
    expect(thresholdsReached(before, after)).toEqual([{ amount: 'tool_calls', percent: 75, used: 3, limit: 4 }]);
    expect(thresholdsReached(after, newBudget({ ...after, reserved }))).toEqual([]);
  });
});

describe('the ceiling of the installation', () => {
  it.each([
    ['0 EUR', 0, 'EUR'],
    ['500000 CHF', 500_000, 'CHF'],
    ['1000000000000 EUR', 1_000_000_000_000, 'EUR'],
  ])('is read from %j', (text, limitMinor, currency) => {
    expect(readModelSpend(text, 'month')).toEqual({ limitMinor, currency, window: 'month' });
  });

  it.each(['', ' EUR', '500000', '500000 ', 'x500000 EUR', '500000 EURO', '500000 EUR ', '500000 XXQ', '9 eur'])(
    'is not read from %j',
    (text) => {
      expect(() => readModelSpend(text, 'total')).toThrow('it must be minor units and their currency');
    },
  );

  it('belongs to all tenants, and every other budget to its tenant', () => {
    const acme = 'acme' as TenantId;
    expect(budgetKey(acme, ceiling)).toEqual({ tenant: '*', id: ceiling });
    expect(budgetKey(acme, 'b' as BudgetId)).toEqual({ tenant: 'acme', id: 'b' });
    expect([{ id: ceiling }, newBudget()].map(isInstallationCeiling)).toEqual([true, false]);
  });
});

describe('a budget in the ledger', () => {
  const row = newBudget({ used, reserved, approvalRequiredAboveMinor: 9, revision: 2 });
  const money = { used_spend_micros_text: '2000001', reserved_spend_micros_text: '6000000' };
  const terms = {
    ...{ tenant_id: 'acme', budget_id: 'b', subject: 'tenant', window: '1h', approval_required_above_minor: 9 },
    ...{ currency: 'EUR', resets_at: '1970-01-01T01:00:00.000Z' },
  };
  const limitColumns = { tool_call_limit: 20, spend_limit_minor: 20, egress_limit_bytes: 20, write_limit: 20 };
  const amounts = {
    ...{ used_tool_calls: 1, used_spend_micros: '2000001', used_egress_bytes: 3, used_writes: 4 },
    ...{ reserved_tool_calls: 5, reserved_spend_micros: '6000000', reserved_egress_bytes: 7, reserved_writes: 8 },
    revision: 2,
  };

  it('is written in two parts: amounts by decisions, terms by people', () => {
    expect(budgets.stored?.(row)).toEqual({ ...terms, ...amounts });
    expect(budgetTerms.stored?.({ row, version: 3, updatedAtMs: 0 })).toEqual({
      ...{ ...terms, ...limitColumns, version: 3, updated_at: '1970-01-01T00:00:00.000Z' },
    });
  });

  it('is read with exact money', () => {
    const stored = { ...terms, ...limitColumns, ...amounts, ...money, version: 3, updated_at: '1970-01-01T00:00:00Z' };
    expect(budgets.rowOf(stored)).toEqual(row);
    expect(budgetTerms.rowOf(stored)).toEqual({ row, version: 3, updatedAtMs: 0 });
    expect(budgets.committed?.(row)).toEqual({ ...row, revision: 3 });
  });

  it('is found by its id and by its subject', () => {
    const [ofId, ofSubject] = [{ tenant: 'acme', id: 'b' } as never, { tenant: 'acme', subject: 'tenant' } as never];
    expect(budgets.keyValues(ofId)).toEqual(['acme', null, 'b']);
    expect(budgets.keyValues(ofSubject)).toEqual(['acme', 'tenant', null]);
    expect(budgets.setsOf(row)).toEqual(['acme\nid\nb', 'acme\nof\ntenant']);
    expect([ofId, ofSubject].map((key) => budgets.keyText(key))).toEqual(budgets.setsOf(row));
    expect(budgets.idOf(row)).toBe(budgets.keyText(ofId));
    const current = { row, version: 3, updatedAtMs: 0 };
    expect([budgetTerms.keyText(ofId), budgetTerms.idOf(current), ...budgetTerms.setsOf(current)]).toEqual(
      Array(3).fill('acme\nb'),
    );
    expect(budgetTerms.keyValues(ofId)).toEqual(['acme', 'b']);
  });

  it('has each reported event identified by tenant, budget and event ID', () => {
    const key = { tenant: 'acme', budget: 'b', event: 'e1' } as never; // plain strings instead of branded ones
    const report = { ...(key as object), fingerprint: digest('a'), counted: true, recordedAtMs: 0 } as never;
    expect(budgetUsage.keyValues(key)).toEqual(['acme', 'b', 'e1']);
    expect([budgetUsage.keyText(key), budgetUsage.idOf(report), ...budgetUsage.setsOf(report)]).toEqual(
      Array(3).fill('acme\nb\ne1'),
    );
    expect(budgetUsage.stored?.(report)).toEqual({
      ...{ tenant_id: 'acme', budget_id: 'b', event_id: 'e1', fingerprint: digest('a'), counted: true },
      recorded_at: '1970-01-01T00:00:00.000Z',
    });
  });
});
