import { describe, expect, it } from '@jest/globals';
import { installationCeiling } from '@countersign/contracts/governance-kernel';
import { unmetPrecondition } from '../src/index.ts';
import { budgetOf, factsFor, knownFact, toolOf } from './situation.ts';

const pin = toolOf({}).pinned_hash;
const registry = (tool: object | null) => knownFact({ server_id: 'files', state: 'approved', tool }) as never; // only these are read
const budgets = (...changes: object[]) => knownFact(changes.map(budgetOf));
/** The amounts that remained of a budget when the approval was requested. */
const before = {
  ...{ budget_id: 'daily', tool_calls_remaining: 5, spend_remaining_micros: '1000000000', currency: 'EUR' },
  ...{ egress_remaining_bytes: null, writes_remaining: 5 },
};

/** The unmet condition of an approval with this pin and these budgets, under these facts. `null` when all are met. */
function verdictOf(changes: object, rests: { tool_definition_hash?: unknown; budgets?: unknown } = {}): string | null {
  return unmetPrecondition({ tool_definition_hash: pin, budgets: null, ...rests } as never, factsFor(null, changes));
}

describe('the pin of an approval', () => {
  const another = 'The pinned definition of the tool changed after the approval was requested.';
  const none = { tool_definition_hash: null };
  it.each<[string, object, object, string | null]>([
    ['is accepted if it is unchanged', { registry: registry(toolOf({})) }, {}, null],
    ['is rejected if it changed', { registry: registry(toolOf({ pinned_hash: 'sha256:0' })) }, {}, another],
    ['is rejected if its tool is gone', { registry: registry(null) }, {}, another],
    ['is accepted if the tool has no pin and had none', { registry: registry(null) }, none, null],
    ['is accepted if no server has the tool and there was none', { registry: { state: 'not_applicable' } }, none, null],
    ['is rejected if no server has the tool', { registry: { state: 'not_applicable' } }, {}, another],
    [
      'is rejected if it is unknown and there was none',
      { registry: { state: 'unavailable', detail: '' } },
      none,
      another,
    ],
    ['is rejected if it is unknown', { registry: { state: 'unavailable', detail: '' } }, {}, another],
  ])('%s', (_what, changes, rests, sentence) => {
    expect(verdictOf(changes, rests)).toBe(sentence);
  });
});

describe('the budgets of an approval', () => {
  const less = 'Budget daily has less left than when the approval was requested.';
  it.each<[string, object, object, string | null]>([
    ['are accepted if they are unchanged', {}, {}, null],
    [
      'are accepted if they have more left',
      { tool_calls_remaining: 6, spend_remaining_micros: 1_000_000_001n, writes_remaining: 6 },
      {},
      null,
    ],
    ['are rejected if they have one call less', { tool_calls_remaining: 4 }, {}, less],
    ['are rejected if they have less money', { spend_remaining_micros: 999_999_999n }, {}, less],
    ['are rejected if they have one write less', { writes_remaining: 4 }, {}, less],
    [
      'are rejected if they have fewer bytes to send',
      { egress_remaining_bytes: 9 },
      { egress_remaining_bytes: 10 },
      less,
    ],
    [
      'are accepted if they have the same bytes to send',
      { egress_remaining_bytes: 10 },
      { egress_remaining_bytes: 10 },
      null,
    ],
    ['are rejected if they have a new limit', { egress_remaining_bytes: 10 }, {}, less],
    ['are accepted if they lost their limits', { tool_calls_remaining: null, spend_remaining_micros: null }, {}, null],
    ['are rejected if they have a new limit of money', {}, { spend_remaining_micros: null }, less],
    ['are rejected in another currency', { currency: 'USD' }, {}, less],
    [
      'are accepted in another currency without a limit of money',
      { currency: 'USD', spend_remaining_micros: null },
      {},
      null,
    ],
    ['are rejected if another budget applies', { budget_id: 'weekly' }, {}, less.replace('daily', 'weekly')],
    [
      'do not include the ceiling of the installation',
      { budget_id: installationCeiling, tool_calls_remaining: 0 },
      {},
      null,
    ],
  ])('%s', (_what, now, then, sentence) => {
    const rests = {
      budgets: [
        { ...before, budget_id: 'other' },
        { ...before, ...then },
      ],
    };
    expect(verdictOf({ registry: registry(toolOf({})), budgets: budgets({ ...now }) }, rests)).toBe(sentence);
    // An approval without budgets has no condition on them.
    expect(verdictOf({ registry: registry(toolOf({})), budgets: budgets({ ...now }) })).toBeNull();
  });

  it('are unmet if one of several has less left, which is named, or if they are unknown', () => {
    const several = budgets({ budget_id: 'other' }, { tool_calls_remaining: 0 });
    const rests = { budgets: [{ ...before, budget_id: 'other' }, before] };
    expect(verdictOf({ registry: registry(toolOf({})), budgets: several }, rests)).toBe(less);
    const unknown = { registry: registry(toolOf({})), budgets: { state: 'unavailable', detail: '' } };
    expect(verdictOf(unknown, rests)).toBe('The budgets are not known.');
    expect(verdictOf(unknown)).toBeNull();
  });
});
