import { describe, expect, it } from '@jest/globals';
import { matchingCost, matchingRules } from '../src/rule-index.ts';
import { intentOf, policyOf } from './situation.ts';

const rule = (id: string, match: object = {}) => ({ id, effect: 'allow', match });
const matched = (rules: object[], call: object) =>
  matchingRules(policyOf(rules).index, intentOf(call)).map(({ rule: { id } }) => id);

describe('rules that cover a call', () => {
  it('are found by each name that they have, and by patterns beside names', () => {
    const rules = [
      rule('mixed', { tool: ['files.read', 'mail.*'] }),
      rule('named', { tool: ['files.read', 'pay.send'] }),
      rule('again', { tool: ['files.read', 'files.read'] }),
      rule('acting', { action: ['model.call', 'tool.*'] }),
      rule('calling', { action: ['tool.call', 'model.call'] }),
      rule('all'),
    ];
    expect(matched(rules, { tool: 'files.read' })).toEqual(['mixed', 'named', 'again', 'acting', 'calling', 'all']);
    expect(matched(rules, { tool: 'mail.send' })).toEqual(['mixed', 'acting', 'calling', 'all']);
    expect(matched(rules, { tool: 'pay.send' })).toEqual(['named', 'acting', 'calling', 'all']);
    expect(matched(rules, { tool: null, action: 'model.call' })).toEqual(['acting', 'calling', 'all']);
  });
});

describe('what it takes to look at a rule', () => {
  const call = intentOf({ tool: 'files.read', action: 'tool.call', resource: 'file:/a', principal: 'ann' });

  it.each<[string, object, number]>([
    ['nothing to look at', {}, 1],
    ['names', { tool: ['a', 'b', 'c'], action: ['d'] }, 1 + 4 * 0.2],
    ['a pattern of actions', { action: ['tool.*'] }, 1.2 + (6 * 9) / 8],
    ['a pattern of tools', { tool: ['files.*'] }, 1.2 + (7 * 10) / 8],
    ['a pattern of resources', { resource: ['file:*'] }, 1.2 + (6 * 7) / 8],
    ['a pattern of principals', { principal: ['a*'] }, 1.2 + (2 * 3) / 8],
  ])('%s', (_what, match, cost) => {
    expect(matchingCost(match, call)).toBeCloseTo(cost, 9);
  });

  it('is little where the call has nothing of the kind', () => {
    expect(matchingCost({ tool: ['files.*'] }, intentOf({ tool: null }))).toBeCloseTo(1.2, 9);
  });
});
