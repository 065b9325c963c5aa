import { describe, expect, it } from '@jest/globals';
import { compileExpression } from '../src/expression.ts';
import { PolicyError } from '../src/policy-error.ts';
import { boundedBefore, Work } from '../src/work.ts';

const path = '/rules/0/when';
const many = (count: number, of: (index: number) => string) => Array.from({ length: count }, (_, index) => of(index));

/** The fault of an expression. `null` when there is none. */
function faultOf(text: string): PolicyError | null {
  try {
    compileExpression(text, path);
    return null;
  } catch (error) {
    if (error instanceof PolicyError) return error;
    throw error;
  }
}

describe('an expression', () => {
  it.each<[string, (count: number) => string, number]>([
    ['elements of a list', (count) => `args.a in [${many(count, String).join()}]`, 500],
    ['members of a map', (count) => `args.a in {${many(count, (index) => `"k${index}": 1`).join()}}`, 100],
    ['brackets', (count) => `${'('.repeat(count)}true${')'.repeat(count)}`, 62],
    ['nodes', (count) => many(count, () => 'true').join(' || '), 1_000],
  ])('may have a limited number of %s', (_what, text, most) => {
    expect(faultOf(text(most))).toBeNull();
    expect(faultOf(text(most + 3))).toMatchObject({ code: 'EXPRESSION_INVALID', path });
  });

  it('may contain values of several types in one list', () => {
    expect(faultOf('args.a in ["a", 1, true]')).toBeNull();
  });

  it('is rejected with a message of one line', () => {
    expect(faultOf('args.a ==')?.message).toMatch(/^Unexpected token: EOF at \/rules\/0\/when$/);
    expect(faultOf('1 + "a" == 2')?.message).toMatch(/^no such overload: int \+ string at \/rules\/0\/when$/);
  });

  it('may have variables with the names of methods', () => {
    const evaluate = (text: string, args: object) =>
      compileExpression(text, path).evaluate({ args, context: {}, relations: {} }, boundedBefore());
    for (const name of ['contains', 'matches', 'indexOf', 'timestamp']) {
      const all = `args.l.all(${name}, ${name}.contains(args.t) && ${name}.matches("^a"))`;
      expect([name, evaluate(all, { l: ['ab', 'a-b'], t: 'b' })]).toEqual([name, true]);
      expect([name, evaluate(all, { l: ['ab', 'a'], t: 'b' })]).toEqual([name, false]);
    }
  });

  it.each([
    ['args.t.indexOf(args.s, 0) == 0', true],
    ['args.t.lastIndexOf(args.s, 0) == 0', true],
    ['args.t.indexOf(args.s, 5) == 4', 'fromIndex out of range'],
    ['args.t.indexOf(args.s, -1) == 4', 'fromIndex out of range'],
    ['args.t.split(args.d, 0) == []', true],
    ['args.t.split(args.d, 3) == ["a", "b", "a"]', true],
    ['args.t.split(args.d, 4) == ["a", "b", "a"]', true],
    ['args.t.split(args.d, -1) == ["a", "b", "a"]', true],
    ['args.t.split(args.d, 2) == ["a", "b-a"]', true],
    ['args.t.split(args.d, 1) == ["a-b-a"]', true],
    ['duration("0.55h") == duration("33m") && duration(".55h") == duration("33m")', true],
  ])('searches for texts of the call as the library does: %s', (text, answer) => {
    const evaluate = () =>
      compileExpression(text, path).evaluate({ args: { t: 'a-b-a', s: 'a', d: '-' } }, boundedBefore());
    if (typeof answer === 'string') expect(evaluate).toThrow(answer);
    else expect(evaluate()).toBe(answer);
  });

  it('searches a text of any length for a literal', () => {
    const { evaluate } = compileExpression('args.t.contains("twenty characters!!!")', path);
    expect(evaluate({ args: { t: 'b'.repeat(2_000_001) } }, new Work(0))).toBe(false);
  });

  it('does not search one text of the call for another when both are too long', () => {
    const { evaluate } = compileExpression('args.t.contains(args.s)', path);
    const searching = (length: number) =>
      evaluate({ args: { t: 'b'.repeat(length), s: 'a'.repeat(4_000) } }, boundedBefore());
    expect(searching(10_000)).toBe(false);
    expect(() => searching(10_001)).toThrow('both texts are too long to search');
  });

  it.each(['contains(args.s)', 'indexOf(args.s) >= 0', 'lastIndexOf(args.s) >= 0', 'split(args.s).size() > 1'])(
    'consumes the work of the decision for each search: %s',
    (search) => {
      const { evaluate } = compileExpression(`args.l.exists(x, args.t.${search})`, path);
      const args = { l: [1, 2, 3, 4], t: 'b'.repeat(10_000), s: 'a'.repeat(1_000) };
      const work = new Work(100_000);
      expect(() => evaluate({ args }, work)).toThrow(/too much is searched|more than the work limit of a decision/);
      expect(work.isSpent).toBe(true);
    },
  );

  it('continues after an error in a loop, without a stack trace or the text of the expression', () => {
    const { evaluate } = compileExpression('args.l.exists(x, int(args.t) == 1)', path);
    const limit = Error.stackTraceLimit;
    try {
      evaluate({ args: { l: [1, 2], t: 'x' } }, boundedBefore());
      throw new Error('it has a value');
    } catch (error) {
      expect((error as Error).message).toMatch(/^int\(\) type error.*$/);
      expect((error as Error).stack).not.toContain('    at ');
    }
    expect(Error.stackTraceLimit).toBe(limit);
  });
});
