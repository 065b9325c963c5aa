import { describe, expect, it } from '@jest/globals';
import { compileExpression } from '../src/expression.ts';
import { IterationBudget } from '../src/iteration-limit.ts';
import { PolicyError } from '../src/policy-error.ts';
import { Work } from '../src/work.ts';

const expression = (text: string) => compileExpression(text, '/rules/0/when');

/** What is wrong with an expression, and where. */
function faultOf(text: string): unknown {
  try {
    expression(text);
  } catch (error) {
    return error;
  }
  throw new Error('nothing is wrong with it');
}

const plain = { comprehensionDepth: 0, splitsText: false, searchCost: 0, rereadingPower: 0 };
const loop = { ...plain, comprehensionDepth: 1 };

describe('the work of an expression', () => {
  it.each<[string, object]>([
    ['args.a == 1', { ...plain, size: 4 }],
    ['principal == "ada"', { ...plain, size: 3 }],
    ['args.t.contains("x")', { ...plain, searchCost: 0.001 }],
    ['args.t.indexOf("x") > 0 && args.t.lastIndexOf("x") > 0', { ...plain, searchCost: 0.002 }],
    ['args.t.matches("^a+$")', { ...plain, searchCost: 0.04 }],
    ['args.t.lowerAscii() == args.u.upperAscii()', { ...plain, searchCost: 0.08 }],
    ['args.t.split(",").size() > 1', { ...plain, splitsText: true, searchCost: 0.04 }],
    ['args.l.all(x, x > 1)', loop],
    ['args.l.all(x, x > 1) || args.m.exists(y, y == 2)', loop],
    ['args.l.all(x, x.m.all(y, y == 1))', { ...loop, comprehensionDepth: 2 }],
    ['args.t.split(",").all(x, x == "a")', { ...loop, splitsText: true, searchCost: 0.04 }],
    ['args.l.all(x, x in args.m)', { ...loop, rereadingPower: 1 }],
  ])('is told of %s', (text, inspection) => {
    expect(expression(text)).toMatchObject(inspection);
  });

  it.each<[string, PolicyError['code'], string]>([
    ['args.l.all(1, true)', 'EXPRESSION_INVALID', ''],
    ['args.l.all(args, true)', 'VARIABLE_UNKNOWN', 'args may not be bound again'],
    ['nobody == 1', 'VARIABLE_UNKNOWN', 'unknown variable nobody'],
    ['args.l.all(x, true) && x == 1', 'VARIABLE_UNKNOWN', 'unknown variable x'],
    ['args.t.reverse() == "x"', 'FUNCTION_REFUSED', 'no function reverse with 0 arguments'],
    ['args.t.matches(args.p)', 'REGEXP_REFUSED', 'the pattern of matches() must be a literal'],
    ['args.t.matches("(")', 'REGEXP_REFUSED', ''],
    ['args.l.all(x, x.all(y, y.all(z, z == 1)))', 'NESTING_REFUSED', 'more than 2 comprehensions inside each other'],
  ])('is bounded: %s', (text, code, message) => {
    const fault = faultOf(text);
    expect(fault).toBeInstanceOf(PolicyError);
    expect(fault).toMatchObject({ code, path: '/rules/0/when', message: expect.stringContaining(message) });
  });
});

describe('what all rules of a decision may do together', () => {
  // One object that holds a list of three and a text of ten characters: 1 + 2 + 3 values.
  const call = [{ list: [1, 2, 3], text: 'abcdefghij' }];
  const costs = (text: string, values: readonly unknown[] = call) => {
    const work = new Work(1_000);
    expect(new IterationBudget(values, work).spend(expression(text))).toBe(true);
    return 1_000 - work.left;
  };

  it.each<[string, number]>([
    ['args.a == 1', 0],
    ['args.list.all(x, x > 0)', 6],
    ['args.list.all(x, x.m.all(y, y == 1))', 36],
    ['args.text.contains("x")', 10 * 0.001],
    ['args.list.all(x, args.text.contains("x"))', 6 + 10 * 0.001 * 6],
    ['args.text.split(",").all(x, x == "a")', 6 + 10 + 10 * 0.04 * 6],
    ['args.list.all(x, x in args.list)', 6 + (6 * 0.1 + 10 * 0.02) * 6],
  ])('is counted: %s', (text, units) => {
    expect(costs(text)).toBeCloseTo(units, 9);
  });

  it('counts values in whatever they stand, and characters of texts alone', () => {
    expect(costs('args.list.all(x, x > 0)', [{}, null, 7, 'abc', [[], ['d']]])).toBe(5 + 2 + 1);
    expect(costs('args.text.contains("x")', ['abc', ['de', { f: 'g' }]])).toBeCloseTo(6 * 0.001, 9);
    expect(costs('args.text.contains("x")', [])).toBe(0);
  });

  it('is taken from what is left, and no more of it is allowed', () => {
    const looping = expression('args.list.all(x, x > 0)');
    const twice = new IterationBudget(call, new Work(12));
    expect([twice.spend(looping), twice.spend(looping), twice.spend(looping)]).toEqual([true, true, false]);
    expect(new IterationBudget(call, new Work(5)).spend(looping)).toBe(false);
    expect(new IterationBudget(call, new Work(0)).spend(expression('args.a == 1'))).toBe(true);
  });

  it('ends where a call brings more than anybody may loop over', () => {
    const looping = expression('args.list.all(x, x > 0)');
    const listOf = (length: number) => [Array.from({ length }, () => 1)];
    expect(new IterationBudget(listOf(399_999)).spend(looping)).toBe(true);
    expect(new IterationBudget(listOf(400_000)).spend(looping)).toBe(false);
  });
});

describe('an instant in a rule', () => {
  const after = (text: string) => {
    try {
      return expression(`now > timestamp(args.t)`).evaluate({ args: { t: text }, now: new Date('2026-01-01') });
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
