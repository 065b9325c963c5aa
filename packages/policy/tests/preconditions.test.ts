import { describe, expect, it } from '@jest/globals';
import { installationCeiling } from '@countersign/contracts/governance-kernel';
import { unmetPrecondition } from '../src/index.ts';
import { budgetOf, factsFor, knownFact, toolOf } from './situation.ts';

const pin = toolOf({}).pinned_hash;
const registry = (tool: object | null) => knownFact({ server_id: 'files', state: 'approved', tool }) as never; // of these members
const budgets = (...changes: object[]) => knownFact(changes.map(budgetOf));
/** The remainders when the approval was requested. */
const before = {
  ...{ budget_id: 'daily', tool_calls_remaining: 5, spend_remaining_micros: '1000000000', currency: 'EUR' },
  ...{ egress_remaining_bytes: null, writes_remaining: 5 },
};

/** The verdict on a call under an approval with this pin and these budgets. */
function verdictOf(changes: object, rests: { tool_definition_hash?: unknown; budgets?: unknown } = {}): string | null {
  return unmetPrecondition({ tool_definition_hash: pin, budgets: null, ...rests } as never, factsFor(null, changes));
}

describe('the pin that an approval rests on', () => {
  const another = 'The tool has another definition pinned than when the approval was asked for.';
  const none = { tool_definition_hash: null };
  it.each<[string, object, object, string | null]>([
    ['is the same', { registry: registry(toolOf({})) }, {}, null],
    ['is another', { registry: registry(toolOf({ pinned_hash: 'sha256:0' })) }, {}, another],
    ['is gone with its tool', { registry: registry(null) }, {}, another],
    ['is none, and was none', { registry: registry(null) }, none, null],
    ['is none, of a tool that no server has', { registry: { state: 'not_applicable' } }, none, null],
    ['was there, and no server has the tool', { registry: { state: 'not_applicable' } }, {}, another],
    ['is not known, and was none', { registry: { state: 'unavailable', detail: '' } }, none, another],
    ['is not known', { registry: { state: 'unavailable', detail: '' } }, {}, another],
  ])('%s', (_what, changes, rests, sentence) => {
    expect(verdictOf(changes, rests)).toBe(sentence);
  });
});

describe('the budgets that an approval rests on', () => {
  const less = 'Budget daily has less left than when the approval was requested.';
  it.each<[string, object, object, string | null]>([
    ['are as they were', {}, {}, null],
    ['have more', { tool_calls_remaining: 6, spend_remaining_micros: 1_000_000_001n, writes_remaining: 6 }, {}, null],
    ['have one call less', { tool_calls_remaining: 4 }, {}, less],
    ['have less money', { spend_remaining_micros: 999_999_999n }, {}, less],
    ['have one write less', { writes_remaining: 4 }, {}, less],
    ['have less to send', { egress_remaining_bytes: 9 }, { egress_remaining_bytes: 10 }, less],
    ['have as much to send', { egress_remaining_bytes: 10 }, { egress_remaining_bytes: 10 }, null],
    ['have a bound where none was', { egress_remaining_bytes: 10 }, {}, less],
    ['have no bound any more', { tool_calls_remaining: null, spend_remaining_micros: null }, {}, null],
    ['have a bound of money where none was', {}, { spend_remaining_micros: null }, less],
    ['are in another currency', { currency: 'USD' }, {}, less],
    ['are in another currency, without a bound', { currency: 'USD', spend_remaining_micros: null }, {}, null],
    ['are others', { budget_id: 'weekly' }, {}, less.replace('daily', 'weekly')],
    ['are the installation’s', { budget_id: installationCeiling, tool_calls_remaining: 0 }, {}, null],
  ])('%s', (_what, now, then, sentence) => {
    const rests = {
      budgets: [
        { ...before, budget_id: 'other' },
        { ...before, ...then },
      ],
    };
    expect(verdictOf({ registry: registry(toolOf({})), budgets: budgets({ ...now }) }, rests)).toBe(sentence);
    // Where it rests on no budgets, nothing is said of them.
    expect(verdictOf({ registry: registry(toolOf({})), budgets: budgets({ ...now }) })).toBeNull();
  });

  it('are named where one of several is less, and missing where they are unknown', () => {
    const several = budgets({ budget_id: 'other' }, { tool_calls_remaining: 0 });
    const rests = { budgets: [{ ...before, budget_id: 'other' }, before] };
    expect(verdictOf({ registry: registry(toolOf({})), budgets: several }, rests)).toBe(less);
    const unknown = { registry: registry(toolOf({})), budgets: { state: 'unavailable', detail: '' } };
    expect(verdictOf(unknown, rests)).toBe('The budgets are not known.');
    expect(verdictOf(unknown)).toBeNull();
  });
});
