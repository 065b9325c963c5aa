import { describe, expect, it } from '@jest/globals';
import type { PolicyRule } from '@countersign/contracts/governance-kernel';
import { canonicalRule, missingCeiling } from '../src/index.ts';
import { policyOf } from './situation.ts';

const ceiling = (name: string, tool = 'pay.*') => ({ id: `ceiling.${name}`, effect: 'deny', match: { tool: [tool] } });
/** The canonical text of a ceiling, as it is in force. */
function textOf(rule: object): string {
  const [text = ''] = policyOf([rule]).ceilings.keys();
  return text;
}

describe('the ceilings of a bundle', () => {
  const [a, b, own] = [ceiling('a'), ceiling('b'), { id: 'own', effect: 'allow' }];

  it.each<[string, object[], object[], string | null]>([
    ['none in force, and none held', [own], [], null],
    ['each in force is held', [own, a, b], [b, a], null],
    ['one is not held', [own, a], [a, b], 'ceiling.b'],
    ['none is held', [own], [a], 'ceiling.a'],
    ['one is held that is not in force', [own, a, b], [a], 'ceiling.b'],
    ['none is in force, and one is held', [a], [], 'ceiling.a'],
    ['one says something else under its name', [ceiling('a', 'pay.send')], [a], 'ceiling.a'],
  ])('are those in force where %s', (_what, rules, inForce, missing) => {
    expect(missingCeiling(policyOf(rules), inForce.map(textOf))).toBe(missing);
  });

  it('are told by the beginning of their names', () => {
    const rules = [own, { ...a, id: 'ceilings' }, { ...a, id: 'my.ceiling.a' }, b];
    expect([...policyOf(rules).ceilings.values()]).toEqual(['ceiling.b']);
  });

  it('are one rule where their texts are, whatever the order of their members', () => {
    const [rule] = policyOf([a]).bundle.rules as [PolicyRule];
    const turned = Object.fromEntries(Object.entries(rule).reverse()) as PolicyRule;
    expect(canonicalRule(turned)).toBe(canonicalRule(rule));
    expect(canonicalRule({ ...rule, when: undefined })).toBe(canonicalRule(rule));
    expect(canonicalRule({ ...rule, effect: 'allow' })).not.toBe(canonicalRule(rule));
  });
});
