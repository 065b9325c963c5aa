import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compileExpression } from '../src/expression.ts';
import { IterationBudget } from '../src/iteration-limit.ts';
import { Work } from '../src/work.ts';

const ample = 2 ** 50;

/** The work that a condition consumes before its evaluation. */
function priceOf(text: string, args: object): number {
  const work = new Work(ample);
  new IterationBudget([args], work).spend(compileExpression(text, '/x'));
  return ample - work.left;
}

const call = (items: number, characters: number) => ({
  l: Array.from({ length: items }, () => 1),
  t: 'a'.repeat(characters),
});
const [fewItems, manyItems] = [10, 1_000];
const [fewCharacters, manyCharacters] = [10, 1_000_000];

/** The power of the input by which a price grows: 2 when twice the input costs four times the work. */
function powerOf(text: string, { items, characters }: { items: boolean; characters: boolean }): number {
  const priceAt = (times: number) =>
    priceOf(text, call(items ? times * manyItems : fewItems, characters ? times * manyCharacters : fewCharacters));
  const [once, twice] = [priceAt(1), priceAt(2)];
  return once === 0 ? twice : Math.round(Math.log2(twice / once));
}

/**
 * Each condition, with the powers by which its price grows: with the items of the call, with its characters, and with
 * both.
 */
const growth: [string, number, number, number][] = [
  ['args.a == 1', 0, 0, 0],
  ['principal == "ada"', 0, 0, 0],
  ['args.a == principal', 0, 0, 0],
  ['tool != args.a', 0, 0, 0],
  ['args.a == -1', 0, 0, 0],
  ['args.a in [1, 2]', 0, 0, 0],
  ['has(args.a)', 0, 0, 0],
  ['args.a == args.b', 1, 1, 1],
  ['!(args.a != args.b)', 1, 1, 1],
  ['-args.a == args.b', 1, 1, 1],
  ['args.a == [1, 2]', 1, 1, 1],
  ['args.a == {"a": 1, "b": 2}', 1, 1, 1],
  ['args.a in args.b', 1, 1, 1],
  ['size(args.a) > 1', 1, 1, 1],
  ['args.a.size() > 1', 1, 1, 1],
  ['args.a < args.b', 0, 1, 1],
  ['args.a < 1', 0, 0, 0],
  ['args.a.startsWith("x")', 0, 0, 0],
  ['args.a.startsWith(principal)', 0, 0, 0],
  ['principal.startsWith(args.a)', 0, 0, 0],
  ['args.a.startsWith(args.b)', 0, 1, 1],
  ['args.a.endsWith("x")', 0, 0, 0],
  ['args.a.endsWith(args.b)', 0, 1, 1],
  ['args.a + args.b == "x"', 1, 1, 1],
  ['(args.a + args.b)[0] == 1', 1, 1, 1],
  ['[1] + [2] == args.a', 1, 1, 1],
  ['size(args.a) + args.b > 1', 1, 1, 1],
  ['args.a - 1 + args.b > 1', 0, 1, 1],
  ['args.l.exists(x, (args.l + args.m)[0] == 1)', 2, 1, 2],
  ['args.l.exists(x, (x.tags + [1])[0] == 1)', 1, 1, 1],
  ['args.l.exists(x, args.m.exists(y, (args.l + args.m)[0] == 1))', 3, 1, 3],
  ['args.a + "x" == "x"', 0, 1, 1],
  ['principal + "x" == "x"', 0, 0, 0],
  ['args.m.join() == ""', 1, 1, 1],
  ['args["a"] == 1', 0, 0, 0],
  ['args[args.t] == 1', 0, 1, 1],
  ['{args.t: 1}.a == 1', 0, 1, 1],
  ['{"t": args.t}.a == 1', 0, 0, 0],
  ['args.a.contains("x")', 0, 1, 1],
  ['args.a.indexOf("x") > 0', 0, 1, 1],
  ['args.a.lastIndexOf("x") > 0', 0, 1, 1],
  ['args.a.matches("^x")', 0, 1, 1],
  ['args.a.trim() == ""', 0, 1, 1],
  ['args.a.lowerAscii() == ""', 0, 1, 1],
  ['args.a.upperAscii() == ""', 0, 1, 1],
  ['double(args.a) > 0.5', 0, 1, 1],
  ['int(args.a) > 0', 0, 1, 1],
  ['uint(args.a) > 0u', 0, 1, 1],
  ['args.a.split("x") == []', 1, 1, 1],
  ['args.t.split(",").all(x, x == "a")', 1, 1, 1],
  ['args.l.all(x, x > 1)', 1, 0, 1],
  ['args.l.all(x, x > 1) && args.m.all(x, x > 1)', 1, 0, 1],
  ['args.l.all(x, has(args.a) || dyn(args.a) == 1)', 1, 0, 1],
  ['args.l.all(x, x.all(y, y > 1))', 2, 0, 2],
  ['args.l.all(x, args.m.all(y, y == x))', 2, 1, 2],
  ['args.l.exists(x, x in ["a", "b"])', 1, 0, 1],
  ['args.l.exists(x, x in x.tags)', 1, 1, 1],
  ['args.l.exists(x, x in args.m)', 2, 1, 2],
  ['args.l.exists(x, x.tags.exists(y, y in args.m))', 3, 1, 3],
  ['args.l.exists(x, args.m.exists(y, y in args.m))', 3, 1, 3],
  ['args.l.exists(x, x.contains("b"))', 1, 1, 1],
  ['args.l.exists(x, args.t.contains("b"))', 1, 1, 2],
  ['args.l.exists(x, args.t.contains(x))', 1, 1, 2],
  ['args.l.exists(x, x.contains(args.t))', 1, 1, 2],
  ['args.l.exists(x, principal.contains(x))', 1, 1, 2],
  ['args.l.exists(x, tool.matches("a"))', 1, 1, 2],
  ['args.l.exists(x, args.t.matches("a") && x.contains("b"))', 1, 1, 2],
  ['[principal].exists(x, args.t.contains("b"))', 1, 1, 2],
  ['args.l.exists(x, args.m.exists(y, args.t.contains("b")))', 2, 1, 3],
  ['args.l.exists(x, args.m.exists(y, x.contains("b")))', 2, 1, 2],
  ['args.l.exists(x, args.m.exists(y, y.contains("b")))', 2, 1, 2],
  ['args.l.exists(x, x.names.all(y, y.lowerAscii().matches("a")))', 2, 1, 2],
  ['args.l.exists(x, args.t == "a")', 1, 0, 1],
  ['args.l.exists(x, args.t == x)', 1, 1, 1],
  ['args.l.exists(x, args.t == args.t)', 2, 1, 2],
  ['args.l.exists(x, args.t < args.m)', 2, 1, 2],
  ['args.l.exists(x, args.m[x + args.t] == 1)', 2, 1, 2],
  ['args.l.exists(x, args.m[x] == 1)', 1, 1, 1],
  ['args.l.exists(x, (x + args.t) in args.m)', 2, 1, 2],
  ['args.l.exists(x, (x + args.t) in x.tags)', 2, 1, 2],
  ['args.l.exists(x, {x + args.t: 1}.a == 1)', 2, 1, 2],
  ['args.l.exists(x, x + args.t == x)', 2, 1, 2],
  ['args.l.exists(x, x + args.t == "a")', 2, 1, 2],
  ['args.l.exists(x, [x + args.t] == x)', 2, 1, 2],
  ['args.l.exists(x, (true ? x + args.t : x) == x)', 2, 1, 2],
  // Two lists are concatenated before their comparison with a number fails.
  ['args.l.exists(x, x + args.n > 100)', 2, 1, 2],
  ['args.l.exists(x, x + args.n > -x)', 2, 1, 2],
  ['args.l.exists(x, x.startsWith(args.t))', 1, 1, 1],
  ['args.l.exists(x, x.startsWith(args.t + x))', 2, 1, 2],
  ['args.l.exists(x, context == relations)', 2, 1, 2],
  ['args.l.exists(x, string(args.t) == "a")', 2, 1, 2],
  ['args.l.exists(x, int(args.t) == 1)', 2, 1, 2],
  ['args.l.exists(x, args.t.size() == 1)', 2, 1, 2],
  ['args.l.exists(x, principal.size() == 1)', 2, 1, 2],
  ['args.l.map(x, x).exists(x, x.contains("b"))', 1, 1, 1],
  ['args.l.filter(x, args.t == "a").exists(x, x.contains("b"))', 1, 1, 1],
  ['args.l.filter(x, dyn(args.t)).exists(x, x.contains("b"))', 1, 1, 1],
  ['args.l.map(x, args.t).exists(x, x.contains("b"))', 1, 1, 2],
  ['args.l.map(x, true, args.t).exists(x, x.contains("b"))', 1, 1, 2],
  ['args.l.map(x, args.t.contains("q"), x).exists(x, x.contains("b"))', 1, 1, 2],
  ['args.l.filter(x, args.t.contains("q")).exists(x, x.contains("b"))', 1, 1, 2],
  ['args.l.exists(x, ["a"].join(args.t) == "b")', 3, 1, 3],
  ['args.l.exists(x, args.m.join() == "b")', 2, 1, 2],
  ['args.l.exists(x, (x + args.t).size() == 1)', 2, 1, 2],
  ['args.l.exists(x, (true ? args.t : x).size() == 1)', 2, 1, 2],
  ['args.l.exists(x, [args.t].size() == 1)', 2, 1, 2],
  ['args.l.exists(x, {"a": args.t}.size() == 1)', 2, 1, 2],
  ['args.l.exists(x, args[x].size() == 1)', 2, 1, 2],
  ['args.l.exists(x, args.m[0].size() == 1)', 2, 1, 2],
  ['args.l.exists(x, x.substring(args.n).contains("b"))', 1, 1, 1],
  ['args.l.exists(x, "a-b".split(args.t).exists(y, y.contains("b")))', 2, 2, 2],
];

describe('the price of a condition', () => {
  it.each(growth)('grows with the call as its work does: %s', (text, byItems, byCharacters, byBoth) => {
    expect([
      powerOf(text, { items: true, characters: false }),
      powerOf(text, { items: false, characters: true }),
      powerOf(text, { items: true, characters: true }),
    ]).toEqual([byItems, byCharacters, byBoth]);
  });

  /** The prices with 1 and with 1,000 names in objects of the call. The other sizes stay the same. */
  const byNames = (text: string) => {
    const priceAt = (count: number) => priceOf(text, { ...call(100, 10), m: Object.fromEntries(names(count)) });
    const names = (count: number) =>
      Array.from({ length: 1_000 }, (_, nth): [string, number] => [nth < count ? `k${nth}` : 'k', 1]);
    return [priceAt(1), priceAt(1_000)] as const;
  };

  it.each([
    ['args.l.exists(x, args.m == {"a": 1})', true],
    ['args.l.exists(x, {"a": 1} != args.m)', true],
    ['args.l.exists(x, args.m == x)', true],
    ['args.m in args.l', true],
    ['args.l.exists(x, args.m.k1 == 1)', false],
    ['"a" in args.m', false],
  ])('covers reading the names of objects: %s', (text, isPriced) => {
    const [few, all] = byNames(text);
    // For each of 100 elements, 1,000 names are looked at. Each name takes about 50 ns, or 0.4 units.
    expect(all - few > 1_000 * 100 * 0.4).toBe(isPriced);
  });

  it('covers concatenating lists', () => {
    const sumOf = (depth: number): string => (depth === 0 ? 'args.l' : `(${sumOf(depth - 1)} + ${sumOf(depth - 1)})`);
    const args = { l: Array.from({ length: 1_000 }, () => 1) };
    for (const depth of [1, 4, 9]) {
      const copied = depth * 2 ** depth * args.l.length;
      // Copying a value takes about 30 ns. A unit is an eighth of a microsecond, so a copy costs about a quarter of it.
      expect(priceOf(`${sumOf(depth)}[0] == 1`, args)).toBeGreaterThan(copied / 4);
      const rounds = `args.l.exists(x, ${sumOf(depth)}[0] == 2)`;
      if (depth < 9) expect(priceOf(rounds, args)).toBeGreaterThan((args.l.length * copied) / 4);
    }
  });

  it.each([
    ...['args.l.all(x, x > 0)', 'args.l.all(x, args.m.all(y, y > 0))', 'args.l.all(x, !(x in args.m))'],
    ...['args.l != args.m', 'args.l.map(x, x).exists(x, x == 0)', 'args.l.filter(x, args.l == args.l).size() > 0'],
    ...['args.l.all(x, args.m.all(y, !(y in args.l)))', 'args.l.exists(x, args.m == args.l)', '0 in args.l'],
  ])('covers everything that the evaluation reads: %s', (text) => {
    const lists = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 30 });
    const others = fc.array(fc.integer({ min: 10, max: 19 }), { maxLength: 30 });
    fc.assert(
      fc.property(lists, others, (l, m) => {
        let reads = 0;
        const args = { l: counting(l, () => (reads += 1)), m: counting(m, () => (reads += 1)) };
        compileExpression(text, '/x').evaluate({ args }, new Work(0));
        expect(priceOf(text, { l, m })).toBeGreaterThanOrEqual(reads * pricePerRead);
      }),
      { numRuns: 20 },
    );
  });

  /** Whether a search in a loop has a price, by the power of the number of elements. */
  const searched = (text: string) => compileExpression(`args.l.exists(x, ${text})`, '/x').searchCosts.map(isPriced);
  const isPriced = (cost: number) => cost > 0;

  it.each([
    ...['args.t.lowerAscii()', 'args.t.upperAscii()', 'args.t.trim()', 'args.t.substring(1)', 'args.t.split(",")[0]'],
    ...['args.m.join()', 'args.m.join(",")', 'string(args.t)', 'dyn(args.t)'],
  ])('counts the text of %s in each round of a loop', (receiver) => {
    expect(searched(`${receiver}.contains("b")`)).toEqual([false, true]);
  });

  it('counts a separator once for each element', () => {
    expect(searched('["a"].join(args.t).contains("b")')).toEqual([false, false, true]);
    const written = (length: number) => priceOf(`args.l.join("${'x'.repeat(length)}") == ""`, call(1_000, 0));
    expect(written(1_000) - written(500)).toBeGreaterThanOrEqual(1_000 * 500 * 0.01);
    expect(priceOf('args.l.join(args.t) == ""', call(2_000, 10_000))).toBeGreaterThan(
      1.9 * priceOf('args.l.join(args.t) == ""', call(1_000, 10_000)),
    );
  });

  it.each([
    ['args.l.all(x, x > 0)', 1],
    ['args.l.all(x, x > 0 && x > 1 && x > 2)', 1.1],
    ['args.l.all(x, x > 0) && args.l.all(x, x > 1) && args.l.all(x, x > 2) && args.l.all(x, x > 3)', 1.2],
    ['args.l.all(x, x.all(y, y > 0))', 1],
  ])('covers everything that runs in a loop: %s', (text, cost) => {
    expect(compileExpression(text, '/x').bodyCosts.at(-1)).toBeCloseTo(cost, 9);
  });

  it('covers each operation that reads the whole call again', () => {
    const { rereadings } = compileExpression('args.l.all(x, x in args.l || x in args.m || x in args.n)', '/x');
    expect(rereadings).toEqual([0, 3]);
    expect(compileExpression('args.l.all(x, x == 1)', '/x').rereadings).toEqual([]);
  });

  it.each<[string, number]>([
    ['args.a == 1', 1],
    ['args.a + args.b == 1', 2],
    ['args.a + 1 == 1', 2],
    ['[args.a, args.b, 1].size() == 1', 2],
    ['{"a": args.a, "b": [args.b]}.size() == 1', 2],
    ['(true ? args.a + args.b + args.c : args.a) == 1', 3],
    ['args.l.map(x, x + x) == []', 2],
    ['args.l.map(x, x + x).map(x, x + x).map(x, x + x) == []', 8],
    ['["a"].map(x, x + x).map(x, x + x).map(x, x + x) == []', 8],
    ['[1].map(x, [x, x]).map(x, [x, x]).map(x, [x, x]) == []', 8],
    ['args.l.map(x, x + x).filter(y, true).exists(y, y + y == "a")', 4],
    ['args.l.filter(x, x + x + x == "a").size() == 1', 3],
    [`[1]${'.map(x, x + x)'.repeat(60)} == []`, 2 ** 60],
  ])('is multiplied by the growth of the values: %s', (text, growth) => {
    const expression = compileExpression(text, '/x');
    expect(expression.growth).toBe(growth);
    const priced = (times: number) => {
      const work = new Work(1_000_000);
      new IterationBudget([call(10, 100)], work).spend({ ...expression, growth: times });
      return 1_000_000 - work.left;
    };
    if (growth < 100) expect(priced(growth)).toBeCloseTo(growth * priced(1), 3);
  });

  it.each(['args.m.map(y, y)', 'args.m.filter(y, true)', 'args.t.split(",")', 'args.m'])(
    'counts the texts of %s in each round of a loop',
    (range) => {
      const costs = searched(`${range}.exists(z, z.contains("b"))`);
      expect([costs.length, costs.at(-1)]).toEqual([2, true]);
    },
  );

  it.each(['{"a": "b"}[args.t]', 'x', 'x.name', '["a", "b"][0]', 'string(x)', '"a-b".split(x.t)[0]'])(
    'counts %s once in a loop, since it is not a text of the whole call',
    (receiver) => {
      expect(searched(`${receiver}.contains("b")`)).toEqual([true]);
    },
  );

  it('counts literal elements like the elements of the call', () => {
    const written = (count: number) => `[${Array.from({ length: count }, (_, nth) => nth).join()}].all(x, x < 500)`;
    expect(priceOf(written(200), {})).toBeGreaterThanOrEqual(200);
    expect(priceOf(written(400), {})).toBeGreaterThanOrEqual(priceOf(written(200), {}) + 200);
    const map = (count: number) => `{${Array.from({ length: count }, (_, nth) => `${nth}: 1`).join()}}.all(x, x < 500)`;
    expect(priceOf(map(90), {})).toBe(priceOf(written(90), {}));
  });

  it('includes a size that grows with each operation', () => {
    const sizes = ['args.a', 'args.a == 1', '!(args.a == 1)', '!(args.a == args.b)', '!(args.a == args.b) && true'];
    const found = sizes.map((text) => compileExpression(text, '/x').size);
    expect(found).toEqual([...new Set(found)].toSorted((one, next) => one - next));
  });

  it('includes the patterns of the condition', () => {
    const { patterns } = compileExpression('args.a.matches("^x") || args.l.exists(x, x.matches("y$"))', '/x');
    expect([...patterns.keys()]).toEqual(['^x', 'y$']);
  });
});

/** The price of looking up one item among others, the cheapest read that has a price. */
const pricePerRead = 0.1;

/** A list that reports each read of an item. */
function counting(list: readonly number[], read: () => void): readonly number[] {
  return new Proxy(list, {
    get: (target, member) => {
      if (typeof member === 'string' && /^\d+$/.test(member)) read();
      return Reflect.get(target, member) as unknown;
    },
  });
}
