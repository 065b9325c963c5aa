import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy } from '../src/index.ts';
import { linearRegExp } from '../src/linear-regexp.ts';
import { bundleOf, policyOf } from './situation.ts';

describe('a bundle', () => {
  /**
   * A rule that names this number of tools. A list or an object counts as many values as it has items, and at least
   * one.
   */
  const ofNames = (count: number) => [
    { id: 'r', effect: 'deny', match: { tool: Array.from({ length: count }, (_, nth) => `t${nth}`) } },
  ];

  it('may have as many values as a request, and no more', () => {
    // Values in addition to the names: 5 members of the bundle, one rule, its 3 members, one member of its match, and
    // the empty list of tests.
    const beside = 5 + 1 + 3 + 1 + 1;
    expect(() => policyOf(ofNames(100_000 - beside))).not.toThrow();
    expect(() => policyOf(ofNames(100_001 - beside))).toThrow(
      expect.objectContaining({ code: 'TOO_LARGE', path: '', message: 'a bundle may have at most 100000 values' }),
    );
  });

  const matching = (patterns: string[]) =>
    patterns.map((pattern, nth) => ({ id: `r${nth}`, effect: 'deny', when: `args.q.matches("${pattern}")` }));
  const weightOf = (pattern: string) => linearRegExp(pattern).size + 10;
  const [of500, ofOne] = [weightOf('a'.repeat(500)), weightOf('a')];
  const long = (nth: number) => `${nth}`.padStart(500, 'a');

  it('may have 20,000 instructions in patterns, where each pattern counts once', () => {
    const kept = Array.from({ length: 39 }, (_, nth) => long(nth));
    const remaining = 20_000 - 39 * of500;
    // One more character adds one instruction.
    const last = 'b'.repeat(1 + remaining - ofOne);
    expect(kept.every((pattern) => weightOf(pattern) === of500) && weightOf(last) === remaining).toBe(true);
    expect(policyOf(matching([...kept, last, ...kept, last])).rules).toHaveLength(80);
    expect(() => policyOf(matching([...kept, last, `${last}b`]))).toThrow(
      expect.objectContaining({ code: 'TOO_LARGE', path: '/rules/40/when' }),
    );
    const plain = { id: 'plain', effect: 'deny' };
    expect(() => policyOf([plain, ...matching([...kept, `${last}b`])])).toThrow(
      'have a total size of 20001 (limit 20000)',
    );
  });

  it('may have undefined members if code builds it', () => {
    const [rule] = bundleOf([{ id: 'r', effect: 'deny' }]).rules;
    if (rule === undefined) throw new Error('the bundle has a rule');
    const built = { ...bundleOf([]), rules: [{ ...rule, match: { action: undefined, tool: ['a.b'] } }] };
    expect(compilePolicy(built as never, nodeProvider).readSet).toEqual(['tool']);
  });
});
