import { describe, expect, it } from '@jest/globals';
import type { JsonValue } from '@countersign/crypto';
import { meteredKeywords, TooMuchWork } from '../src/metered-keywords.ts';
import type { Effort } from '../src/metered-schema.ts';
import { Work } from '../src/work.ts';

type Judge = (this: Work, data: JsonValue) => boolean;

/** The keyword of a schema with this value, as Ajv applies it. */
function judgeOf(keyword: string, value: unknown): Judge {
  const definition = meteredKeywords.find((each) => each.keyword === keyword);
  if (definition === undefined) throw new Error('there is no such keyword');
  if ('compile' in definition) return (definition.compile as (value: unknown) => Judge)(value);
  const { validate } = definition as { validate: (this: Work, value: unknown, data: JsonValue) => boolean };
  return function (data) {
    return validate.call(this, value, data);
  };
}

function judged(keyword: string, value: unknown, data: JsonValue): { answer: boolean; units: number } {
  const work = new Work(1_000);
  const answer = judgeOf(keyword, value).call(work, data);
  return { answer, units: 1_000 - work.left };
}

const unitsOf = (keyword: string, value: unknown, data: JsonValue) => judged(keyword, value, data).units;
const numbered = (count: number) => Array.from({ length: count }, (_, nr) => nr);

describe('the result of a keyword', () => {
  it.each<[JsonValue[], boolean]>([
    [[], true],
    [[1, 2, 1], false],
    [['ab', 'abc'], true],
    [[{ a: 'xyz', b: [1] }, null], true],
    [
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      false,
    ],
  ])('is correct for unique items: %j', (items, answer) => {
    expect(judged('uniqueItems', true, items).answer).toBe(answer);
    expect(judged('uniqueItems', false, items)).toEqual({ answer: true, units: 0 });
  });

  it.each<[JsonValue[], JsonValue, boolean]>([
    [['a', 1, null, true], 'a', true],
    [['a', 1, null, true], null, true],
    [['a', 1, null, true], 'null', false],
    [['a', 1], { a: 1 }, false],
    [['a', { a: 1, b: 'xy' }], { b: 'xy', a: 1 }, true],
    [['a', [1]], { a: 1 }, false],
    [['a', [1]], 'a', true],
    [[null, [1]], null, true],
    [['[1]', { a: 1 }], [1], false],
    [['{"a":1}', [1]], { a: 1 }, false],
  ])('is correct for a value among %j: %j', (allowed, data, answer) => {
    expect(judged('enum', allowed, data).answer).toBe(answer);
  });

  it('is correct for a pattern', () => {
    expect([judged('pattern', '^a+$', 'aaaa').answer, judged('pattern', '^a+$', 'aab').answer]).toEqual([true, false]);
  });
});

describe('the work of a keyword', () => {
  const nothing: Effort = { value: 0, item: 0, member: 0, nameCharacter: 0, character: 0 };

  it.each<[keyof Effort, (count: number) => JsonValue]>([
    ['item', (count) => numbered(count)],
    ['member', (count) => Object.fromEntries(numbered(count).map((nr) => [`k${nr}`, 'a']))],
    ['character', (count) => 'a'.repeat(count)],
  ])('is the cost of its node for each %s', (keyword, data) => {
    for (const count of [1, 5, 12])
      expect(unitsOf('countersign:effort', { ...nothing, [keyword]: 2 }, data(count))).toBe(2 * count);
  });

  it('is the cost of its node for each character of a name', () => {
    const ofNames = (nameCharacter: number) =>
      unitsOf('countersign:effort', { ...nothing, member: 1, nameCharacter }, { ab: 1, cdef: 'a long text' });
    expect(ofNames(2) - ofNames(0)).toBe(2 * 'abcdef'.length);
  });

  it.each<[JsonValue]>([[1], [null], [true], ['abcd'], [[]], [['a']], [{}], [{ a: 1 }]])(
    'is the cost of its node for one value: %j',
    (data) => {
      expect(unitsOf('countersign:effort', { ...nothing, value: 3 }, data)).toBe(3);
    },
  );

  it.each<[string, unknown, (count: number) => JsonValue]>([
    ['items that must differ', ['uniqueItems', true], numbered],
    ['characters of items that must differ', ['uniqueItems', true], (count) => ['a'.repeat(count)]],
    ['parts of items that must differ', ['uniqueItems', true], (count) => [[numbered(count)]]],
    ['parts of a value that is compared with an enum', ['enum', [[1]]], numbered],
    ['characters of a value that is compared with an enum', ['enum', [[1]]], (count) => ['a'.repeat(count)]],
    ['characters that a pattern reads', ['pattern', '^a+$'], (count) => 'a'.repeat(count)],
  ])('grows with the %s', (_what, applied, data) => {
    const [keyword, value] = applied as [string, unknown];
    const [once = NaN, twice = NaN, thrice = NaN] = [300, 600, 900].map((count) =>
      unitsOf(keyword, value, data(count)),
    );
    expect(twice - once).toBeGreaterThan(0);
    expect(thrice - twice).toBeCloseTo(twice - once, 6);
  });

  it('is limited by the remaining work', () => {
    const needed = unitsOf('uniqueItems', true, [1, 2]);
    const spend = (units: number) => judgeOf('uniqueItems', true).call(new Work(units), [1, 2]);
    expect(spend(needed)).toBe(true);
    expect(() => spend(needed - 0.01)).toThrow(TooMuchWork);
  });
});
