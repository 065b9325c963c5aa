import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isLiteralGlob, matchesGlob } from '../src/glob.ts';

/** What a pattern means, in the words of another engine. */
function meaning(pattern: string): RegExp {
  return new RegExp(`^${pattern.replaceAll('.', '[.]').replaceAll('?', '.').replaceAll('*', '.*')}$`, 's');
}

const letters = (...units: string[]) => fc.string({ unit: fc.constantFrom(...units), maxLength: 8 });

describe('a pattern', () => {
  it('matches what a regular expression of the same meaning matches', () => {
    fc.assert(
      fc.property(letters('a', 'B', '.', '*', '?'), letters('a', 'b', 'B', '.', '*', '\n'), (pattern, text) => {
        expect(matchesGlob(pattern, text)).toBe(meaning(pattern).test(text));
        if (isLiteralGlob(pattern)) expect(matchesGlob(pattern, text)).toBe(pattern === text);
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ['files.*', 'files.', true],
    ['files.**', 'files.', true],
    ['*', '', true],
    ['?', '', false],
    ['', '', true],
    ['*.read', 'files.read.read', true],
    ['a*b*c', 'abbbcbc', true],
    ['a*b*c', 'abbbcb', false],
  ])('%j matches %j: %s', (pattern, text, matches) => {
    expect(matchesGlob(pattern, text)).toBe(matches);
  });
});
