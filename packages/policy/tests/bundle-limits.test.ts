import { expect, it } from '@jest/globals';
import { policyOf } from './situation.ts';

/** A list or an object counts as its items do, and as one at least. */
const ofNames = (count: number) => [
  { id: 'r', effect: 'deny', match: { tool: Array.from({ length: count }, (_, nth) => `t${nth}`) } },
];

it('a bundle of as many values as a request may have is compiled, and one of more is refused', () => {
  // Beside the names: 5 members of the bundle, one rule, 3 of that, one of its match, and the list of no tests.
  const beside = 5 + 1 + 3 + 1 + 1;
  expect(() => policyOf(ofNames(100_000 - beside))).not.toThrow();
  expect(() => policyOf(ofNames(100_001 - beside))).toThrow('a bundle may have 100000 values');
});
