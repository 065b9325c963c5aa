import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { globStepsMax, isLiteralGlob, matchesGlob } from '../src/glob.ts';
import { boundedBefore, Work } from '../src/work.ts';
import { GlobSet } from '../src/glob-set.ts';
import { allSteps, stepsTaken } from './counted.ts';

/** The same pattern as a regular expression. */
function meaning(pattern: string): RegExp {
  return new RegExp(`^${pattern.replaceAll('.', '[.]').replaceAll('?', '.').replaceAll('*', '.*')}$`, 's');
}

const letters = (...units: string[]) => fc.string({ unit: fc.constantFrom(...units), maxLength: 8 });

describe('a pattern', () => {
  it('matches the same texts as its regular expression', () => {
    fc.assert(
      fc.property(letters('a', 'B', '.', '*', '?'), letters('a', 'b', 'B', '.', '*', '\n'), (pattern, text) => {
        expect(matchesGlob(pattern, text, boundedBefore())).toBe(meaning(pattern).test(text));
        if (isLiteralGlob(pattern)) expect(matchesGlob(pattern, text, boundedBefore())).toBe(pattern === text);
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
    expect(matchesGlob(pattern, text, boundedBefore())).toBe(matches);
  });
});

/** Characters that give patterns common beginnings, ends and segments. */
const pattern = fc.oneof(letters('a', 'b', '*'), letters('a', 'b', '*', '?'), letters('a', '*'), letters('a', 'b'));
const text = fc.oneof(letters('a', 'b'), letters('a'), fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 40 }));
const setOf = (globs: readonly string[]) => allSteps(GlobSet.inSteps(globs));

describe('many patterns at once', () => {
  it('match the same texts as each pattern separately', () => {
    fc.assert(
      fc.property(fc.array(pattern, { maxLength: 30 }), text, (globs, read) => {
        const byItself = globs.filter((glob) => matchesGlob(glob, read, boundedBefore()));
        expect(setOf(globs).matching(read, boundedBefore())).toEqual(new Set(byItself));
      }),
      { numRuns: 1500 },
    );
  });

  it('take no more steps than computed in advance, whatever the text', () => {
    fc.assert(
      fc.property(fc.array(pattern, { maxLength: 30 }), text, (globs, read) => {
        const set = setOf(globs);
        expect(stepsTaken((work) => set.matching(read, work))).toBeLessThanOrEqual(set.stepsMax(read.length));
        for (const glob of globs)
          expect(stepsTaken((work) => matchesGlob(glob, read, work))).toBeLessThanOrEqual(
            globStepsMax(glob, read.length),
          );
      }),
      { numRuns: 500 },
    );
  });

  it.each<[string, readonly string[], string]>([
    ['segments that can match everywhere', many((nth) => `*${'a'.repeat(40)}${nth}*`), 'a'.repeat(2048)],
    [
      'segments that overlap themselves',
      many((nth) => `*${'ab'.repeat(20)}*${'ab'.repeat(20)}*${nth}*`),
      'ab'.repeat(1024),
    ],
    ['prefixes of increasing length', many((nth) => `${'a'.repeat(nth % 250)}*b${nth}*c`), 'a'.repeat(2048)],
    ['suffixes', many((nth) => `*${'a'.repeat(100)}b${nth}${'a'.repeat(100)}`), 'a'.repeat(2048)],
  ])('read a long text once: %s', (_what, globs, read) => {
    const steps = stepsTaken((work) => setOf(globs).matching(read, work));
    const byItself = globs.reduce((sum, glob) => sum + stepsTaken((work) => matchesGlob(glob, read, work)), 0);
    expect(steps).toBeLessThan(byItself / 5);
    expect(steps).toBeLessThan(100_000);
  });

  it('need few more steps for ten times as many patterns between stars', () => {
    const of = (count: number) => setOf(many((nth) => `*${'a'.repeat(20)}${nth}*`, count));
    const steps = (count: number) => stepsTaken((work) => of(count).matching('a'.repeat(2048), work));
    expect(steps(1_000) - steps(100)).toBeLessThan(900 * 4);
  });

  it('stop when the work is used up', () => {
    const set = setOf(many((nth) => `*${'a'.repeat(nth % 99)}b${nth}*`));
    for (const units of [0, 1, 10, 100]) {
      const work = new Work(units);
      set.matching('ab'.repeat(1_000), work);
      expect(work.isSpent).toBe(true);
      expect(stepsTaken((counted) => set.matching('ab'.repeat(1_000), counted), units)).toBeLessThan(
        16 * units + 4_000,
      );
    }
  });
});

function many(glob: (nth: number) => string, count = 100): string[] {
  return Array.from({ length: count }, (_, nth) => glob(nth));
}
