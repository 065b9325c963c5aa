import { describe, expect, it } from '@jest/globals';
import { compileExpression } from '../src/expression.ts';
import { Work } from '../src/work.ts';
import { CountedWork } from './counted.ts';

const ample = 2 ** 40;
const texts = (count: number) => Array.from({ length: count }, (_, nth) => `text ${nth}`);

/** The work that a condition consumes during its evaluation. */
function takenBy(text: string, args: object): number {
  const work = new Work(ample);
  const { evaluate } = compileExpression(text, '/x');
  valueOf(() => evaluate({ args }, work));
  return ample - work.left;
}

function valueOf(evaluate: () => unknown): unknown {
  try {
    return evaluate();
  } catch {
    return 'failed';
  }
}

/** Conditions with the number of errors that each round creates without ending the loop. */
const failing: [string, number][] = [
  ['args.l.exists(x, x > 100)', 1],
  ['args.l.all(x, x > 100)', 1],
  ['args.l.all(x, x)', 1],
  ['args.l.exists(x, x ? true : false)', 1],
  ['args.l.exists(x, x.nope)', 1],
  ['args.l.exists(x, args.z.nope == 1)', 1],
  ['args.l.exists(x, x[0] == 1)', 1],
  ['args.l.exists(x, -x == 1)', 1],
  ['args.l.exists(x, int(x) == 1)', 1],
  ['args.l.exists(x, double(x) == 1.0)', 1],
  ['args.l.exists(x, bool(x))', 1],
  ['args.l.exists(x, x.substring(100) == x)', 1],
  ['args.l.exists(x, x.all(y, y == 1))', 1],
  ['args.l.exists(x, (x > 1) && (x > 2) && (x > 3))', 3],
  ['args.l.all(x, x.nope || true)', 1],
  ['args.l.filter(x, x.nope || true).size() > 1', 1],
  ['args.l.map(x, x.nope || true).size() > 1', 1],
  ['args.l.exists_one(x, !(x.nope && false))', 1],
  ['args.l.exists(x, timestamp(x) == timestamp(x))', 1],
  ['args.l.exists(x, duration(x) == duration(x))', 1],
  ['args.l.exists(x, x.indexOf(args.s, 100) == 1)', 1],
];

describe('a failing round of a loop', () => {
  it.each(failing)('consumes work for each error: %s', (condition, errors) => {
    const [few, many] = [10, 30].map((count) => takenBy(condition, { l: texts(count), z: {}, s: 'x' }));
    expect(Math.round(((many ?? 0) - (few ?? 0)) / 20 / 20)).toBe(errors);
  });

  it.each(failing)('is the last round when the work is used up: %s', (condition) => {
    const { evaluate } = compileExpression(condition, '/x');
    const work = new CountedWork(1_000);
    valueOf(() => evaluate({ args: { l: texts(10_000), z: {}, s: 'x' } }, work));
    expect(work.isSpent).toBe(true);
    expect(work.requests).toBeLessThan(200);
  });

  it('is the only kind of round that consumes work during the evaluation', () => {
    for (const condition of ['args.l.exists(x, x == "none")', 'args.l.all(x, x.size() > 3)']) {
      expect(takenBy(condition, { l: texts(1_000) })).toBe(0);
    }
  });
});
