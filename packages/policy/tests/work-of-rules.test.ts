import { describe, expect, it } from '@jest/globals';
import { compileExpression } from '../src/expression.ts';
import { IterationBudget } from '../src/iteration-limit.ts';
import { keptPatterns, linearRegExp, patternWeight } from '../src/linear-regexp.ts';
import { PolicyError } from '../src/policy-error.ts';
import { Work } from '../src/work.ts';
import { leastWorkMs } from '@countersign/testkit/worked';

const expression = (text: string) => compileExpression(text, '/rules/0/when');

/** The fault of an expression, and its place. */
function faultOf(text: string): unknown {
  try {
    expression(text);
  } catch (error) {
    return error;
  }
  throw new Error('nothing is wrong with it');
}

describe('the work of an expression', () => {
  it.each<[string, PolicyError['code'], string]>([
    ['args.l.all(1, true)', 'EXPRESSION_INVALID', ''],
    ['args.l.all(args, true)', 'VARIABLE_UNKNOWN', 'args is a variable already: rename it'],
    ['unlisted == 1', 'VARIABLE_UNKNOWN', 'unknown variable unlisted'],
    ['args.l.all(x, true) && x == 1', 'VARIABLE_UNKNOWN', 'unknown variable x'],
    ['args.t.reverse() == "x"', 'FUNCTION_REFUSED', 'no function reverse with 0 arguments'],
    ['args.t.matches(args.p)', 'REGEXP_REFUSED', 'the pattern of matches() must be a literal'],
    ['args.t.matches(tool)', 'REGEXP_REFUSED', 'the pattern of matches() must be a literal'],
    ['args.t.matches("(")', 'REGEXP_REFUSED', ''],
    [`args.t.matches("${'a'.repeat(513)}")`, 'REGEXP_REFUSED', 'pattern longer than 512 characters'],
    [`args.t.matches("${'a{1000}'.repeat(70)}")`, 'REGEXP_REFUSED', 'the pattern has nested or large repetitions'],
    ['args.t.matches("(abcdefghijklmnopqrst){1000}")', 'REGEXP_REFUSED', 'the pattern has nested or large repetitions'],
    ['args.l.all(x, x.all(y, y.all(z, z == 1)))', 'NESTING_REFUSED', 'more than 2 nested comprehensions'],
  ])('is limited: %s', (text, code, message) => {
    const fault = faultOf(text);
    expect(fault).toBeInstanceOf(PolicyError);
    expect(fault).toMatchObject({ code, path: '/rules/0/when', message: expect.stringContaining(message) });
  });
});

describe('the work that all rules of a decision share', () => {
  // One object with a list of three items and a text of ten characters. It has 1 + 2 + 3 values, and 18 characters with
  // its names.
  const call = [{ list: [1, 2, 3], text: 'abcdefghij' }];
  const costs = (text: string, values: readonly unknown[]) => {
    const work = new Work(1_000);
    expect(new IterationBudget(values, work).spend(expression(text))).toBe(true);
    return 1_000 - work.left;
  };

  it('counts values at any depth, and only the characters of texts and names', () => {
    expect(costs('args.list.all(x, x > 0)', [{}, null, 7, 'abc', [[], ['d']]])).toBe(5 + 2 + 1);
    const ofCharacters = (values: readonly unknown[]) => costs('args.text.contains("x")', values);
    expect(ofCharacters(['abc', ['de', { f: 'g' }]])).toBeCloseTo(ofCharacters(['1234567']), 9);
    expect(ofCharacters([])).toBe(0);
  });

  it('is subtracted from the remaining work, and may not exceed it', () => {
    const looping = expression('args.list.all(x, x > 0)');
    const twice = new IterationBudget(call, new Work(12));
    expect([twice.spend(looping), twice.spend(looping), twice.spend(looping)]).toEqual([true, true, false]);
    expect(new IterationBudget(call, new Work(5)).spend(looping)).toBe(false);
    expect(new IterationBudget(call, new Work(0)).spend(expression('args.a == 1'))).toBe(true);
  });

  it('is exceeded if a call has more values than a loop may read', () => {
    const looping = expression('args.list.all(x, x > 0)');
    const listOf = (length: number) => [Array.from({ length }, () => 1)];
    expect(new IterationBudget(listOf(399_999)).spend(looping)).toBe(true);
    expect(new IterationBudget(listOf(400_000)).spend(looping)).toBe(false);
  });
});

describe('a pattern in a rule', () => {
  const texts = ['a', 'aXXb', 'ab', 'xaYb', 'a\nb', `a${'x'.repeat(81)}b`, ''];

  it('has the same results in both engines, whatever its cost', () => {
    const answers = (pattern: string) => texts.map((text) => linearRegExp(pattern).test(text));
    const native = (pattern: RegExp) => texts.map((text) => pattern.test(text));
    expect(linearRegExp('a.{0,80}b').costPerCharacter).toBeGreaterThan(10 * linearRegExp('a.*b').costPerCharacter);
    expect(answers('a.{0,80}b')).toEqual(native(/a.{0,80}b/));
    expect(answers('a.*b')).toEqual(native(/a.*b/));
  });

  it.each([
    '(?i)(password|secret|token)\\s*[:=]',
    '\\b\\d{4}[ -]?\\d{4}[ -]?\\d{4}[ -]?\\d{4}\\b',
    '^[\\w.+-]+@[\\w-]+\\.[\\w.]+$',
    '(?i)\\b(select|insert|update|delete|drop)\\b.*\\b(from|into|table)\\b',
    '[A-Za-z0-9/+=]{40}',
    '-----BEGIN [A-Z ]*PRIVATE KEY-----',
  ])('is cheap if all texts lead through the same few states: %s', (pattern) => {
    expect(linearRegExp(pattern).costPerCharacter).toBe(linearRegExp('a').costPerCharacter);
  });

  it.each(['a.{0,16}z', 'a.{0,100}z', '(?:a|b)*a(?:a|b){12}c', '(?i)ignore.{0,80}(previous|prior).{0,80}instructions'])(
    'is expensive if each text leads through other states, and its price covers its work: %s',
    async (pattern) => {
      const { costPerCharacter, test } = linearRegExp(pattern);
      expect(costPerCharacter).toBeGreaterThan(linearRegExp('a').costPerCharacter);
      const text = `z instructions c\n${Array.from({ length: 4_000 }, (_, nr) => ((nr * nr) % 7 < 3 ? 'a' : 'b')).join('')}`;
      // A unit is an eighth of a microsecond. A cold engine takes a few times longer.
      expect((await leastWorkMs(() => test(text))) * 8_000).toBeLessThan(10 * costPerCharacter * text.length + 400_000);
      expect(
        new IterationBudget([{ text: 'a'.repeat(1_000_000) }]).spend(expression(`args.text.matches("${pattern}")`)),
      ).toBe(false);
    },
  );

  it('costs more with more instructions', () => {
    const costs = [4, 16, 64].map((count) => linearRegExp(`a.{0,${count}}z`).costPerCharacter);
    expect(costs).toEqual([...new Set(costs)].toSorted((one, next) => one - next));
  });
});

it('a pattern may have 512 characters, and 20,000 characters times repetitions', () => {
  expect(linearRegExp('a'.repeat(512)).size).toBeGreaterThan(500);
  expect(linearRegExp('a'.repeat(13) + 'b{1000}').test('a'.repeat(13) + 'b'.repeat(1000))).toBe(true);
  expect(() => linearRegExp('a'.repeat(14) + 'b{1000}')).toThrow('the pattern has nested or large repetitions');
  expect(() => linearRegExp('a'.repeat(12) + 'b{1,1000}')).toThrow('the pattern has nested or large repetitions');
  expect(linearRegExp('a'.repeat(40) + 'b{400,}').test('b')).toBe(false);
});

describe('compiled patterns', () => {
  it('have different names', () => {
    expect([linearRegExp('a'), linearRegExp('b')].map(String)).toEqual(['re2:a', 're2:b']);
  });

  it('are cached up to a total number of instructions', () => {
    const weight = linearRegExp('a').size + patternWeight;
    const compiled = keptPatterns(3 * weight);
    const first = compiled('a');
    compiled('b');
    compiled('c');
    expect(compiled('a')).toBe(first);
    compiled('d');
    expect(compiled('a')).not.toBe(first);
  });
});

describe('a duration in a rule', () => {
  const longer = (text: string) => {
    try {
      return expression('duration(args.t) > duration("1h")').evaluate({ args: { t: text } }, new Work(0));
    } catch (error) {
      return (error as Error).message;
    }
  };

  it.each<[string, boolean]>([
    ['2h', true],
    ['1h0m0.5s', true],
    ['61m', true],
    ['3600001ms', true],
    ['59m', false],
    ['-2h', false],
    ['.5h', false],
    ['1.h1us', true],
  ])('is read from %s', (text, isLonger) => {
    expect(longer(text)).toBe(isLonger);
  });

  it.each(['', '1', 'h', '1h ', ' 1h', '1h1', '--1h', '1d', '1e3s', '1h'.repeat(33), '1'.repeat(100_000)])(
    'is not read from %j', // the library would take hours for the last one
    (text) => {
      expect(longer(text)).toContain('duration() needs a number with a unit');
    },
  );
});

describe('a timestamp in a rule', () => {
  const after = (text: string) => {
    try {
      return expression(`now > timestamp(args.t)`).evaluate(
        { args: { t: text }, now: new Date('2026-01-01') },
        new Work(0),
      );
    } catch (error) {
      return (error as Error).message;
    }
  };

  it.each([
    '2020-01-01T00:00:00Z',
    '2020-01-01T00:00:00.1Z',
    '2020-01-01T00:00:00.123456789Z',
    '2020-01-01T00:00:00+02:00',
    '2020-01-01T00:00:00-02:00',
  ])('is read from %s', (text) => {
    expect(after(text)).toBe(true);
  });

  it.each([
    ' 2020-01-01T00:00:00Z',
    '+002020-01-01T00:00:00Z',
    '2020-01-01T00:00:00Z ',
    '2020-01-01T00:00:00',
    '2020-01-01T00:00:00.Z',
    '2020-01-01T00:00:00.1234567890Z',
    '2020-01-01 00:00:00Z',
    '2020-13-01T00:00:00Z',
    '2020-01-01',
  ])('is not read from %j', (text) => {
    expect(after(text)).toContain('timestamp() needs RFC 3339 with a zone');
  });
});
