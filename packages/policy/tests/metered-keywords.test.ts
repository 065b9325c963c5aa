import { describe, expect, it } from '@jest/globals';
import type { JsonValue } from '@countersign/crypto';
import { meteredKeywords, TooMuchWork } from '../src/metered-keywords.ts';
import { Work } from '../src/work.ts';

type Judge = (this: Work, data: JsonValue) => boolean;

/** A keyword of a schema, as Ajv applies it, with its value there. */
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

const effort = { value: 3, item: 2, member: 5, nameCharacter: 0.5, character: 0.25 };

describe('what a keyword takes', () => {
  it.each<[JsonValue, number]>([
    [1, 3],
    [null, 3],
    [true, 3],
    ['abcd', 3 + 4 * 0.25],
    [[], 3],
    [[1, 'a', null], 3 + 3 * 2],
    [{}, 3],
    [{ ab: 1, cdef: 'a long text' }, 3 + 2 * 5 + 6 * 0.5],
  ])('is the effort of its node, for %j', (data, units) => {
    expect(judged('countersign:effort', effort, data)).toEqual({ answer: true, units });
  });

  it.each<[JsonValue[], boolean, number]>([
    [[], true, 0.5],
    [[1, 2, 1], false, 4 * 0.5],
    [['ab', 'abc'], true, 3 * 0.5 + 5 * 0.02],
    [[{ a: 'xyz', b: [1] }, null], true, 6 * 0.5 + 3 * 0.02],
  ])('is that of writing each item where all have to differ: %j', (items, answer, units) => {
    const told = judged('uniqueItems', true, items);
    expect(told.answer).toBe(answer);
    expect(told.units).toBeCloseTo(units, 9);
    expect(judged('uniqueItems', false, items)).toEqual({ answer: true, units: 0 });
  });

  it.each<[JsonValue[], JsonValue, boolean, number]>([
    [['a', 1, null, true], 'a', true, 0],
    [['a', 1, null, true], null, true, 0],
    [['a', 1, null, true], 'null', false, 0],
    [['a', 1], { a: 1 }, false, 0],
    [['a', { a: 1, b: 'xy' }], { b: 'xy', a: 1 }, true, 3 * 0.5 + 2 * 0.02],
    [['a', [1]], { a: 1 }, false, 2 * 0.5],
    [['a', [1]], 'a', true, 0],
    [[null, [1]], null, true, 0],
    [['[1]', { a: 1 }], [1], false, 2 * 0.5],
    [['{"a":1}', [1]], { a: 1 }, false, 2 * 0.5],
  ])('is that of writing a value that may be one of %j', (allowed, data, answer, units) => {
    const told = judged('enum', allowed, data);
    expect(told.answer).toBe(answer);
    expect(told.units).toBeCloseTo(units, 9);
  });

  it('is that of reading a text by a pattern', () => {
    expect(judged('pattern', '^a+$', 'aaaa')).toEqual({ answer: true, units: expect.closeTo(4 * 0.04, 9) });
    expect(judged('pattern', '^a+$', 'aab')).toEqual({ answer: false, units: expect.closeTo(3 * 0.04, 9) });
  });

  it('ends where no more work is left', () => {
    const spend = (units: number) => judgeOf('uniqueItems', true).call(new Work(units), [1, 2]);
    expect(spend(1.5)).toBe(true);
    expect(() => spend(1.49)).toThrow(TooMuchWork);
  });
});
