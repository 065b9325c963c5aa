import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy } from '../src/index.ts';
import { linearRegExp } from '../src/linear-regexp.ts';
import { bundleOf, policyOf } from './situation.ts';

describe('a bundle', () => {
  /** A list or an object counts as its items do, and as one at least. */
  const ofNames = (count: number) => [
    { id: 'r', effect: 'deny', match: { tool: Array.from({ length: count }, (_, nth) => `t${nth}`) } },
  ];

  it('has as many values as a request may have, and not one more', () => {
    // Beside the names: 5 members of the bundle, one rule, 3 of that, one of its match, and the list of no tests.
    const beside = 5 + 1 + 3 + 1 + 1;
    expect(() => policyOf(ofNames(100_000 - beside))).not.toThrow();
    expect(() => policyOf(ofNames(100_001 - beside))).toThrow(
      expect.objectContaining({ code: 'TOO_LARGE', path: '', message: 'a bundle may have 100000 values' }),
    );
  });

  const matching = (patterns: string[]) =>
    patterns.map((pattern, nth) => ({ id: `r${nth}`, effect: 'deny', when: `args.q.matches("${pattern}")` }));
  const weightOf = (pattern: string) => linearRegExp(pattern).size + 10;
  const [of500, ofOne] = [weightOf('a'.repeat(500)), weightOf('a')];
  const long = (nth: number) => `${nth}`.padStart(500, 'a');

  it('has as many patterns as a process can keep for each bundle, each counted once', () => {
    const kept = Array.from({ length: 39 }, (_, nth) => long(nth));
    const remaining = 20_000 - 39 * of500;
    // A character more weighs one more.
    const last = 'b'.repeat(1 + remaining - ofOne);
    expect(kept.every((pattern) => weightOf(pattern) === of500) && weightOf(last) === remaining).toBe(true);
    expect(policyOf(matching([...kept, last, ...kept, last])).rules).toHaveLength(80);
    expect(() => policyOf(matching([...kept, last, `${last}b`]))).toThrow(
      expect.objectContaining({ code: 'TOO_LARGE', path: '/rules/40/when' }),
    );
    const plain = { id: 'plain', effect: 'deny' };
    expect(() => policyOf([plain, ...matching([...kept, `${last}b`])])).toThrow(
      'may have 20000 characters or so together',
    );
  });

  it('that was built in code may have members that are undefined', () => {
    const [rule] = bundleOf([{ id: 'r', effect: 'deny' }]).rules;
    if (rule === undefined) throw new Error('the bundle has a rule');
    const built = { ...bundleOf([]), rules: [{ ...rule, match: { action: undefined, tool: ['a.b'] } }] };
    expect(compilePolicy(built as never, nodeProvider).readSet).toEqual(['tool']);
  });
});
