import { describe, expect, it } from '@jest/globals';
import { compileExpression } from '../src/expression.ts';
import { PolicyError } from '../src/policy-error.ts';

const path = '/rules/0/when';
const many = (count: number, of: (index: number) => string) => Array.from({ length: count }, (_, index) => of(index));

/** What is wrong with an expression; null: nothing. */
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
  ])('may have so many %s, and no more', (_what, text, most) => {
    expect(faultOf(text(most))).toBeNull();
    expect(faultOf(text(most + 3))).toMatchObject({ code: 'EXPRESSION_INVALID', path });
  });

  it('may hold values of several kinds in one list', () => {
    expect(faultOf('args.a in ["a", 1, true]')).toBeNull();
  });

  it('is refused in one line', () => {
    for (const text of ['args.a ==', '1 + "a" == 2', 'args.a == 1 &&\n&& args.b']) {
      const { message } = faultOf(text) ?? new Error('nothing is wrong with it');
      expect([text, message]).toEqual([text, expect.stringMatching(/^.{9,}$/)]);
    }
  });

  it('may name its variables as methods are named', () => {
    const evaluate = (text: string, args: object) =>
      compileExpression(text, path).evaluate({ args, context: {}, relations: {} });
    for (const name of ['contains', 'matches', 'indexOf', 'timestamp']) {
      const all = `args.l.all(${name}, ${name}.contains(args.t) && ${name}.matches("^a"))`;
      expect([name, evaluate(all, { l: ['ab', 'a-b'], t: 'b' })]).toEqual([name, true]);
      expect([name, evaluate(all, { l: ['ab', 'a'], t: 'b' })]).toEqual([name, false]);
    }
  });
});
