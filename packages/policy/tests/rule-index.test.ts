import { describe, expect, it } from '@jest/globals';
import { matchingRules } from '../src/rule-index.ts';
import { boundedBefore, Work } from '../src/work.ts';
import { stepsTaken } from './counted.ts';
import { intentOf, policyOf } from './situation.ts';

const rule = (id: string, match: object = {}) => ({ id, effect: 'allow', match });
const matched = (rules: object[], call: object) =>
  matchingRules(policyOf(rules).index, intentOf(call), boundedBefore()).map(({ rule: { id } }) => id);

describe('rules that cover a call', () => {
  it('are found by each of their names, and by patterns next to names', () => {
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

describe('the work of matching a call', () => {
  const call = intentOf({ tool: 'files.read', action: 'tool.call', resource: 'file:/a', principal: 'ann' });
  const steps = (rules: object[], intent = call) =>
    stepsTaken((work) => matchingRules(policyOf(rules).index, intent, work));

  it.each([
    ['actions', { action: ['t*'] }],
    ['tools', { tool: ['f*'] }],
    ['resources', { resource: ['f*'] }],
    ['principals', { principal: ['a*'] }],
  ])('grows with the %s that rules name, for each rule', (_what, match) => {
    const [none, one] = [steps([rule('a')]), steps([rule('a', match)])];
    expect(one).toBeGreaterThan(none);
    expect(steps([rule('a', match), rule('b', match)])).toBeGreaterThan(one);
  });

  it('counts each rule, and each text once for all rules', () => {
    const rules = (count: number) =>
      Array.from({ length: count }, (_, nth) => rule(`r${nth}`, { resource: [`f${nth}*`] }));
    const long = intentOf({ resource: 'x'.repeat(2048) });
    expect(steps(rules(100), long) - steps(rules(50), long)).toBeGreaterThanOrEqual(50 * 16);
    expect(steps(rules(100), long) - steps(rules(50), long)).toBeLessThan(2048);
  });

  it('does not grow with patterns for a member that the call lacks', () => {
    const none = intentOf({ tool: null });
    expect(steps([rule('a', { tool: ['f*'] })], none)).toBe(steps([rule('a', { tool: ['fi*es.re*'] })], none));
  });

  it('is limited by the remaining work', () => {
    const rules = Array.from({ length: 100 }, (_, nth) => rule(`r${nth}`));
    const work = new Work(10);
    expect(matchingRules(policyOf(rules).index, call, work)).toHaveLength(10);
    expect(work.isSpent).toBe(true);
  });
});
