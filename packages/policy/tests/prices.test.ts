import { describe, expect, it } from '@jest/globals';
import { compileExpression } from '../src/expression.ts';

const free = {
  ...{ literals: 0, loops: 0, splitsText: false, searchCosts: [], readingCost: 0, valueCost: 0, rereadingPower: 0 },
  patterns: [],
};

/** What the expression takes, as it is counted before anybody evaluates it. */
function priceOf(text: string): object {
  const { comprehensionDepth: loops, patterns, size, literals, ...prices } = compileExpression(text, '/x');
  const { splitsText, searchCosts, readingCost, valueCost, rereadingPower } = prices;
  return {
    ...{ size, literals, loops, splitsText, searchCosts, readingCost, valueCost, rereadingPower },
    patterns: [...patterns.keys()],
  };
}

describe('what evaluating a condition takes', () => {
  it.each<[string, object]>([
    ['args.a == 1', { size: 4 }],
    ['args.a == args.b', { size: 5, valueCost: 5 }],
    ['args.a != args.b', { size: 5, valueCost: 5 }],
    ['args.a == principal', { size: 4 }],
    ['tool != args.a', { size: 4 }],
    ['args.a == -1', { size: 5 }],
    ['-args.a == args.b', { size: 6, valueCost: 5 }],
    ['args.a == [1, 2]', { size: 6, literals: 2, valueCost: 5 }],
    ['args.a in [1, 2]', { size: 6, literals: 2 }],
    ['args.a in args.b', { size: 5, valueCost: 1 }],
    ['size(args.a) > 1', { size: 5, readingCost: 0.08, valueCost: 4 }],
    ['args.a.size() > 1', { size: 5, readingCost: 0.08, valueCost: 4 }],
    ['has(args.a)', { size: 3 }],
    ['args.a.contains("x")', { size: 4, searchCosts: [0.001] }],
    ['args.a.indexOf("x") > 0', { size: 6, searchCosts: [0.001] }],
    ['args.a.lastIndexOf("x") > 0', { size: 6, searchCosts: [0.001], readingCost: 0.004 }],
    ['args.a.split("x") == []', { size: 6, splitsText: true, searchCosts: [0.04], valueCost: 5 }],
    ['args.a.matches("^x")', { size: 4, searchCosts: [0.04], patterns: ['^x'] }],
    ['args.a.trim() == ""', { size: 5, readingCost: 0.01 }],
    ['args.a.lowerAscii() == ""', { size: 5, searchCosts: [0.04], readingCost: 0.11 }],
    ['args.a.upperAscii() == ""', { size: 5, searchCosts: [0.04], readingCost: 0.11 }],
    ['double(args.a) > 0.5', { size: 5, readingCost: 0.1 }],
    ['int(args.a) > 0', { size: 5, readingCost: 0.01 }],
    ['uint(args.a) > 0u', { size: 5, readingCost: 0.01 }],
    ['args.l.all(x, x > 1)', { size: 6, loops: 1 }],
    ['args.l.all(x, x.all(y, y > 1))', { size: 8, loops: 2 }],
    ['args.l.all(x, x > 1) && args.m.all(x, x > 1)', { size: 13, loops: 1 }],
    ['args.l.exists(x, x in args.m)', { size: 7, loops: 1, valueCost: 1, rereadingPower: 1 }],
    ['args.l.exists(x, x in ["a", "b"])', { size: 8, literals: 2, loops: 1 }],
    ['args.l.exists(x, x in x.tags)', { size: 7, loops: 1, valueCost: 1 }],
    ['args.l.exists(x, x.tags.exists(y, y in args.m))', { size: 10, loops: 2, valueCost: 1, rereadingPower: 2 }],
    ['args.l.exists(x, args.m.exists(y, y in args.m))', { size: 10, loops: 2, valueCost: 1, rereadingPower: 2 }],
    ['args.l.exists(x, x.contains("b"))', { size: 6, loops: 1, searchCosts: [0.001] }],
    ['args.l.exists(x, args.t.contains("b"))', { size: 7, loops: 1, searchCosts: [0, 0.001] }],
    ['args.l.exists(x, args.t.contains(x))', { size: 7, loops: 1, searchCosts: [0, 0.001] }],
    ['args.l.exists(x, principal.contains(x))', { size: 6, loops: 1, searchCosts: [0, 0.001] }],
    ['args.l.exists(x, principal.contains("a"))', { size: 6, loops: 1, searchCosts: [0, 0.001] }],
    ['args.l.exists(x, args.m.exists(y, args.t.contains("b")))', { size: 10, loops: 2, searchCosts: [0, 0, 0.001] }],
    ['args.l.exists(x, args.m.exists(y, x.contains("b")))', { size: 9, loops: 2, searchCosts: [0, 0.001] }],
    ['args.l.exists(x, args.m.exists(y, y.contains("b")))', { size: 9, loops: 2, searchCosts: [0, 0.001] }],
    ['args.l.exists(x, args.t == args.t)', { size: 8, loops: 1, valueCost: 5, rereadingPower: 1 }],
    ['args.l.exists(x, args.t == "a")', { size: 7, loops: 1 }],
    ['args.l.exists(x, args.t == x)', { size: 7, loops: 1, valueCost: 5 }],
    ['args.l.exists(x, args.t < args.m)', { size: 8, loops: 1, rereadingPower: 1 }],
    ['args.l.exists(x, string(args.t) == "a")', { size: 8, loops: 1, rereadingPower: 1 }],
    ['args.l.exists(x, int(args.t) == 1)', { size: 8, loops: 1, readingCost: 0.01, rereadingPower: 1 }],
    ['args.l.exists(x, has(args.t))', { size: 6, loops: 1 }],
    ['args.l.exists(x, dyn(args.t) == 1)', { size: 8, loops: 1 }],
    ['args.l.exists(x, args.t.size() == 1)', { size: 8, loops: 1, readingCost: 0.08, valueCost: 4, rereadingPower: 1 }],
    [
      'args.l.exists(x, principal.size() == 1)',
      { size: 7, loops: 1, readingCost: 0.08, valueCost: 4, rereadingPower: 1 },
    ],
    ['args.l.map(x, args.t).exists(x, x.contains("b"))', { size: 9, loops: 1, searchCosts: [0, 0.001] }],
    ['args.l.map(x, x).exists(x, x.contains("b"))', { size: 8, loops: 1, searchCosts: [0.001] }],
    ['args.l.filter(x, args.t == "a").exists(x, x.contains("b"))', { size: 11, loops: 1, searchCosts: [0.001] }],
    ['args.l.exists(x, ["a"].join(args.t) == "b")', { size: 10, literals: 1, loops: 1, rereadingPower: 1 }],
    ['args.l.exists(x, args.m.join() == "b")', { size: 8, loops: 1, rereadingPower: 1 }],
    [
      'args.l.exists(x, (x + args.t).size() == 1)',
      { size: 10, loops: 1, readingCost: 0.08, valueCost: 4, rereadingPower: 1 },
    ],
    [
      'args.l.exists(x, (true ? args.t : x).size() == 1)',
      { size: 11, loops: 1, readingCost: 0.08, valueCost: 4, rereadingPower: 1 },
    ],
    [
      'args.l.exists(x, [args.t].size() == 1)',
      { size: 9, literals: 1, loops: 1, readingCost: 0.08, valueCost: 4, rereadingPower: 1 },
    ],
    [
      'args.l.exists(x, {"a": args.t}.size() == 1)',
      { size: 10, literals: 1, loops: 1, readingCost: 0.08, valueCost: 4, rereadingPower: 1 },
    ],
    [
      'args.l.exists(x, args[x].size() == 1)',
      { size: 9, loops: 1, readingCost: 0.08, valueCost: 4, rereadingPower: 1 },
    ],
    [
      'args.l.exists(x, args.m[0].size() == 1)',
      { size: 10, loops: 1, readingCost: 0.08, valueCost: 4, rereadingPower: 1 },
    ],
    ['{"a": 1, "b": 2} == args.a', { size: 8, literals: 2, valueCost: 5 }],
    ['[1, 2, 3] == args.a', { size: 7, literals: 3, valueCost: 5 }],
    [
      "args.l.exists(x, args.t.substring(1).contains('b'))",
      { size: 9, loops: 1, searchCosts: [0, 0.001], rereadingPower: 1 },
    ],
    ["args.l.map(x, true, args.t).exists(x, x.contains('b'))", { size: 10, loops: 1, searchCosts: [0, 0.001] }],
    [
      "args.l.map(x, args.t.contains('q'), x).exists(x, x.contains('b'))",
      { size: 12, loops: 1, searchCosts: [0.001, 0.001] },
    ],
    ['!(args.a == args.b)', { size: 6, valueCost: 5 }],
    ['args.l.exists(x, context == relations)', { size: 6, loops: 1, valueCost: 5, rereadingPower: 1 }],
    ["[principal].exists(x, args.t.contains('b'))", { size: 7, literals: 1, loops: 1, searchCosts: [0, 0.001] }],
    [
      'args.l.exists(x, "a-b".split(args.t).exists(y, y.contains("b")))',
      { size: 11, loops: 2, splitsText: true, searchCosts: [0.001, 0.04] },
    ],
    ['args.l.exists(x, x.substring(args.n).contains("b"))', { size: 9, loops: 1, searchCosts: [0.001] }],
    [
      'args.l.filter(x, args.t.contains("q")).exists(x, x.contains("b"))',
      { size: 11, loops: 1, searchCosts: [0.001, 0.001] },
    ],
  ])('%s', (text, price) => {
    expect(priceOf(text)).toEqual({ ...free, ...price });
  });
});

describe('a text that was brought into a loop', () => {
  /** By how often they are brought, what the characters of the call take to be searched. */
  const searched = (text: string) => compileExpression(`args.l.exists(x, ${text})`, '/x').searchCosts;

  it.each<[string, number]>([
    ['args.t.lowerAscii()', 0.04],
    ['args.t.upperAscii()', 0.04],
    ['args.t.trim()', 0],
    ['args.t.substring(1)', 0],
    ['args.t.split(",")[0]', 0.04],
    ['args.m.join()', 0],
    ['["a"].join(args.t)', 0],
    ['args.m.join(",")', 0],
    ['string(args.t)', 0],
    ['dyn(args.t)', 0],
  ])('is searched as often by %s', (receiver, cost) => {
    expect(searched(`${receiver}.contains("b")`)).toEqual([0, expect.closeTo(cost + 0.001, 9)]);
  });

  it.each(['args.m.map(y, y)', 'args.m.filter(y, true)', 'args.t.split(",")', 'args.m'])(
    'is searched as often in a loop over %s',
    (range) => {
      expect(searched(`${range}.exists(z, z.contains("b"))`).at(-1)).toBeGreaterThan(0);
      expect(searched(`${range}.exists(z, z.contains("b"))`)).toHaveLength(2);
    },
  );

  it.each(['{"a": "b"}[args.t]', 'x', 'x.name', '["a", "b"][0]', 'string(x)', '"a-b".split(x.t)[0]'])(
    'is not what %s is: it is read once',
    (receiver) => {
      expect(searched(`${receiver}.contains("b")`)).toHaveLength(1);
    },
  );

  it('is none of what a filter only looks at', () => {
    const looking = 'args.l.filter(y, dyn(args.t)).exists(z, z.contains("b"))';
    expect(compileExpression(looking, '/x').searchCosts).toEqual([0.001]);
  });
});
