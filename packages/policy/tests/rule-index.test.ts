import { describe, expect, it } from '@jest/globals';
import { matchingRules } from '../src/rule-index.ts';
import { boundedBefore, Work } from '../src/work.ts';
import { stepsTaken } from './counted.ts';
import { intentOf, policyOf } from './situation.ts';

const rule = (id: string, match: object = {}) => ({ id, effect: 'allow', match });
const matched = (rules: object[], call: object) =>
  matchingRules(policyOf(rules).index, intentOf(call), boundedBefore()).map(({ rule: { id } }) => id);

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

describe('what it takes to match a call', () => {
  const call = intentOf({ tool: 'files.read', action: 'tool.call', resource: 'file:/a', principal: 'ann' });
  const steps = (rules: object[], intent = call) =>
    stepsTaken((work) => matchingRules(policyOf(rules).index, intent, work));

  it.each([
    ['actions', { action: ['t*'] }],
    ['tools', { tool: ['f*'] }],
    ['resources', { resource: ['f*'] }],
    ['principals', { principal: ['a*'] }],
  ])('grows with the %s that rules name, and each is counted', (_what, match) => {
    const [none, one] = [steps([rule('a')]), steps([rule('a', match)])];
    expect(one).toBeGreaterThan(none);
    expect(steps([rule('a', match), rule('b', match)])).toBeGreaterThan(one);
  });

  it('counts each rule, and a text once for all rules', () => {
    const rules = (count: number) =>
      Array.from({ length: count }, (_, nth) => rule(`r${nth}`, { resource: [`f${nth}*`] }));
    const long = intentOf({ resource: 'x'.repeat(2048) });
    expect(steps(rules(100), long) - steps(rules(50), long)).toBeGreaterThanOrEqual(50 * 16);
    expect(steps(rules(100), long) - steps(rules(50), long)).toBeLessThan(2048);
  });

  it('is little where the call has nothing of the kind', () => {
    const none = intentOf({ tool: null });
    expect(steps([rule('a', { tool: ['f*'] })], none)).toBe(steps([rule('a', { tool: ['fi*es.re*'] })], none));
  });

  it('ends where the work is spent', () => {
    const rules = Array.from({ length: 100 }, (_, nth) => rule(`r${nth}`));
    const work = new Work(10);
    expect(matchingRules(policyOf(rules).index, call, work)).toHaveLength(10);
    expect(work.isSpent).toBe(true);
  });
});
