import { describe, expect, it } from '@jest/globals';
import type { PolicyRule } from '@countersign/contracts/governance-kernel';
import { canonicalRule, missingCeiling } from '../src/index.ts';
import { policyOf } from './situation.ts';

const ceiling = (name: string, tool = 'pay.*') => ({ id: `ceiling.${name}`, effect: 'deny', match: { tool: [tool] } });
/** The canonical text of a ceiling. */
function textOf(rule: object): string {
  const [text = ''] = policyOf([rule]).ceilings.keys();
  return text;
}

describe('the ceilings of a bundle', () => {
  const [a, b, own] = [ceiling('a'), ceiling('b'), { id: 'own', effect: 'allow' }];

  it.each<[string, object[], object[], string | null]>([
    ['none is in force, and the bundle has none', [own], [], null],
    ['the bundle has each one in force', [own, a, b], [b, a], null],
    ['the bundle lacks one that is in force', [own, a], [a, b], 'ceiling.b'],
    ['the bundle has none', [own], [a], 'ceiling.a'],
    ['the bundle has one that is not in force', [own, a, b], [a], 'ceiling.b'],
    ['none is in force, and the bundle has one', [a], [], 'ceiling.a'],
    ['the bundle has a different rule under the ID of one', [ceiling('a', 'pay.send')], [a], 'ceiling.a'],
  ])('are compared with the current ceilings: %s', (_what, rules, inForce, missing) => {
    expect(missingCeiling(policyOf(rules), inForce.map(textOf))).toBe(missing);
  });

  it('are recognised by the prefix of their ids', () => {
    const rules = [own, { ...a, id: 'ceilings' }, { ...a, id: 'my.ceiling.a' }, b];
    expect([...policyOf(rules).ceilings.values()]).toEqual(['ceiling.b']);
  });

  it('are equal if their canonical texts are equal, whatever the order of members', () => {
    const [rule] = policyOf([a]).bundle.rules as [PolicyRule];
    const turned = Object.fromEntries(Object.entries(rule).reverse()) as PolicyRule;
    expect(canonicalRule(turned)).toBe(canonicalRule(rule));
    expect(canonicalRule({ ...rule, when: undefined })).toBe(canonicalRule(rule));
    expect(canonicalRule({ ...rule, effect: 'allow' })).not.toBe(canonicalRule(rule));
  });
});
