import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import {
  compileInTurns,
  compilePolicy,
  evaluateRules,
  failedTests,
  failedTestsInTurns,
  mistakenFor,
  neededRelations,
  parsePolicyBundle,
  type CompiledPolicy,
  type Intent,
} from '../src/index.ts';
import { callOfTest } from '../src/policy-tests.ts';
import { decisionWorkMax } from '../src/work.ts';
import { CountedWork } from './counted.ts';
import { bundleOf, frozenNow, intentOf, policyOf } from './situation.ts';

const environment = { now: frozenNow, relations: {} };
const many = <Item>(count: number, item: (nth: number) => Item) => Array.from({ length: count }, (_, nth) => item(nth));
/** Rules with these patterns, up to 200 in each. */
const inRules = (globs: readonly string[], member: string) =>
  many(Math.ceil(globs.length / 200), (nth) => ({
    ...{ id: `r${nth}`, effect: nth % 2 === 0 ? 'allow' : 'deny' },
    match: { [member]: globs.slice(200 * nth, 200 * (nth + 1)) },
  }));

/** The steps of a decision whose parts share one limit of work, as in the kernel. */
function decided(policy: CompiledPolicy, intent: Intent) {
  const work = new CountedWork(decisionWorkMax);
  const mistaken = intent.tool === null ? null : mistakenFor(policy.tools, intent.tool, work);
  const needed = neededRelations(policy, intent, work);
  const outcome = evaluateRules(policy, intent, environment, work);
  return { mistaken, needed, outcome, steps: work.steps, asked: work.requests, isSpent: work.isSpent };
}

/** 400,000 units of 16 steps, as docs/adr/0074 states. */
const stepsMax = 6_400_000;
/** When no work is left, each rule and each of its names may request work once more. */
const askedMax = stepsMax + 200_000;

const longest = { tool: 'a'.repeat(256), resource: 'a'.repeat(2048), principal: 'a'.repeat(256) };
const tail = (length: number) => 'a'.repeat(length);
const refusal = expect.objectContaining({ code: 'TOO_LARGE', path: '/rules' });

describe('patterns of a bundle', () => {
  const numbered = (count: number, glob: (nth: string) => string) =>
    many(count, (nth) => glob(`${nth}`.padStart(5, 'b')));

  it.each<[string, string[]]>([
    ['prefixes', numbered(300, (nth) => `${tail(249)}${nth}*`)],
    ['suffixes', numbered(2_000, (nth) => `*${tail(249)}${nth}`)],
    ['suffixes of single-character wildcards', numbered(2_000, (nth) => `*${'?'.repeat(249)}${nth}`)],
    ['prefixes and suffixes', numbered(2_000, (nth) => `${tail(100)}*${tail(100)}${nth}`)],
    ['one segment', numbered(75, (nth) => `*${tail(249)}${nth}*`)],
    ['segments that contain each other', many(190, (nth) => `*${tail(nth + 1)}*b`)],
    ['many segments', numbered(150, (nth) => `${'*a'.repeat(60)}*${nth}*`)],
    ['single-character wildcards between stars', numbered(8, (nth) => `*?${tail(40)}*?${nth}*`)],
  ])('are matched within the work of a decision: %s', (_what, globs) => {
    const policy = policyOf(inRules(globs, 'resource'));
    const { steps, asked, isSpent, outcome } = decided(policy, intentOf(longest));
    expect(isSpent).toBe(false);
    expect(steps).toBeLessThan(stepsMax / 3);
    expect(asked).toBeLessThan(stepsMax / 3);
    expect(outcome).not.toMatchObject({ code: 'POLICY_EVALUATION_ERROR' });
  });

  it.each<[string, object[]]>([
    [
      '78 KB of segments',
      inRules(
        numbered(300, (nth) => `*${tail(249)}${nth}*`),
        'resource',
      ),
    ],
    [
      '78 KB of single-character wildcards between stars',
      inRules(
        numbered(300, (nth) => `*?${tail(240)}${nth}*`),
        'resource',
      ),
    ],
    [
      'suffixes of the names of restricted tools',
      inRules(
        numbered(4_000, (nth) => `*${tail(249)}${nth}`),
        'tool',
      ),
    ],
  ])('are rejected if they could take more work: %s', (_what, rules) => {
    expect(() => policyOf(rules)).toThrow(refusal);
  });

  it('may have 20,000 characters between stars in total, and no more', () => {
    const globs = numbered(99, (nth) => `*${tail(195)}${nth}*`);
    const last = (length: number) => `*${'c'.repeat(length)}*`;
    const rules = (length: number) => inRules([...globs, last(length)], 'resource');
    expect(policyOf(rules(200)).rules).toHaveLength(1);
    expect(() => policyOf(rules(201))).toThrow(refusal);
    expect(() => policyOf(rules(201))).toThrow('20001 characters between two * in total (limit 20000)');
  });

  describe('count in every part of a bundle:', () => {
    /** Each pattern has 200 characters between stars. */
    const segments = (count: number, letter: string) => numbered(count, (nth) => `*${letter.repeat(195)}${nth}*`);
    const relation = (required: object) => ({
      viewer: { object: 'file:a', relation: 'viewer', subject: 'agent:b', required },
    });
    const denying = (tool: string[]) => [{ id: 'a', effect: 'deny', match: { tool } }];
    const going = (egress: string[], rules: object[] = []) =>
      compilePolicy({ ...bundleOf(rules), egress }, nodeProvider);

    it.each<[string, number, (count: number) => unknown]>([
      [
        'resources that require a relation',
        40,
        (count) => policyOf(inRules(segments(60, 'a'), 'resource'), [], relation({ resource: segments(count, 'c') })),
      ],
      ['restricted tools, in their written and folded form', 33, (count) => policyOf(denying(segments(count, 'a')))],
      [
        'tools that require a relation and may run at a provider',
        25,
        (count) => policyOf([], [], relation({ tool: segments(count, 'a') })),
      ],
      ['destinations', 99, (count) => going(segments(count, 'a'), inRules(segments(1, 'c'), 'resource'))],
    ])('%s', (_what, most, compiled) => {
      expect(() => compiled(most)).not.toThrow();
      expect(() => compiled(most + 1)).toThrow(refusal);
    });

    it('patterns of tools, except in rules that allow', () => {
      const ends = numbered(4_000, (nth) => `*${tail(249)}${nth}`);
      expect(() => policyOf(inRules(ends, 'tool').map((rule) => ({ ...rule, effect: 'allow' })))).not.toThrow();
      expect(() => policyOf(denying(ends))).toThrow(refusal);
      expect(() => policyOf(denying(ends))).toThrow(/could take \d+ steps \(limit 2000000\)/);
    });

    it('patterns of hosts', () => {
      expect(() => going(numbered(30, (nth) => `*?${tail(190)}${nth}*`))).not.toThrow();
      expect(() => going(numbered(60, (nth) => `*?${tail(190)}${nth}*`))).toThrow(refusal);
    });
  });

  it('take few steps in a bundle of 5,000 ordinary rules', () => {
    const rules = many(5_000, (nth) => ({
      ...{ id: `r${nth}`, effect: nth % 5 === 0 ? 'deny' : 'allow' },
      match: {
        action: ['tool.call', 'data.*'],
        tool: [`crm${nth}.*`, `*.delete-${nth}`],
        resource: [`https://*.customer-${nth}.example/*`, `file:/home/${nth}/*`].slice(nth < 800 ? 0 : 1),
      },
    }));
    const { isSpent, steps } = decided(policyOf(rules), intentOf({ tool: 'crm77.read', resource: 'file:/home/77/a' }));
    expect(isSpent).toBe(false);
    expect(steps).toBeLessThan(300_000);
  });
});

describe('a decision that would take too much work', () => {
  const denied = { kind: 'deny', code: 'POLICY_EVALUATION_ERROR' };
  const text = tail(1_000_000);

  it.each<[string, string, object]>([
    ['compares prefixes', 'args.a.startsWith(args.b)', { a: text, b: text }],
    ['compares suffixes', 'args.a.endsWith(args.b)', { a: text, b: text }],
    ['compares whole texts', 'args.a == args.b', { a: text, b: `${text}` }],
    ['concatenates texts', 'args.a + args.b != ""', { a: text, b: text }],
    ['looks up texts', 'has(args.a) || args[args.a] == 1', { a: text }],
    ['joins texts', 'args.l.join() != ""', { l: many(1_000, () => tail(1_000)) }],
  ])('is denied: it %s many times', (_what, condition, args) => {
    const when = many(60, () => condition).join(' || ');
    const rules = (count: number) => many(count, (nth) => ({ id: `r${nth}`, effect: 'allow', when: `!(${when})` }));
    const few = decided(
      policyOf([
        { id: 'all', effect: 'allow' },
        { id: 'r', effect: 'allow', when: condition },
      ]),
      intentOf({ args: args as never }),
    );
    expect(few.outcome).toMatchObject({ kind: 'allow' });
    const { outcome, steps, asked } = decided(policyOf(rules(8)), intentOf({ args: args as never }));
    expect(outcome).toMatchObject(denied);
    expect(steps).toBeLessThanOrEqual(stepsMax);
    expect(asked).toBeLessThan(askedMax);
  });

  it('is denied if its conditions have too many nodes', () => {
    const when = many(300, (nth) => `args.a==${nth}`).join('||');
    const rules = [{ id: 'all', effect: 'allow' }, ...many(10, (nth) => ({ id: `r${nth}`, effect: 'deny', when }))];
    const policy = policyOf(rules);
    const outcome = (units: number) =>
      evaluateRules(policy, intentOf({ args: { a: -1 } }), environment, new CountedWork(units));
    const nodes = policy.rules.reduce((sum, rule) => sum + (rule.when?.size ?? 0), 0);
    expect(nodes).toBeGreaterThan(10 * 300 * 3);
    // Half a unit for each node, and one unit for each rule.
    expect(outcome(nodes / 2 + 11)).toMatchObject({ kind: 'allow' });
    expect(outcome(nodes / 2 + 10)).toMatchObject({ ...denied, rules: ['r9'] });
  });

  it.each([
    `[args.l]${'.map(x, x + x)'.repeat(40)}.size() > 0`,
    `["a"]${'.map(x, x + x)'.repeat(40)}.size() > 0`,
    `[1]${'.map(x, [x, x])'.repeat(40)}.size() > 0`,
    'args.l.join(args.t).size() > 0',
  ])('is denied before small values grow too large: %s', (when) => {
    const policy = policyOf([{ id: 'r', effect: 'allow', when }]);
    const args = { l: many(5_000, () => 'a'), t: tail(5_000) };
    expect(decided(policy, intentOf({ args })).outcome).toMatchObject(denied);
  });

  it('is denied if an expensive pattern is matched with a short name many times', () => {
    const when = many(100, () => 'tool.matches("a.{0,400}b")').join(' || ');
    const rules = many(100, (nth) => ({ id: `r${nth}`, effect: 'allow', when }));
    const call = intentOf({ tool: tail(256), resource: null, args: {} });
    expect(decided(policyOf(rules), call).outcome).toMatchObject(denied);
  });

  it('is denied with all relations required if a model call names too many tools', () => {
    const required = { action: ['model.call'], tool: many(100, (nth) => `*${tail(60)}${nth}`) };
    const relations = { viewer: { object: 'file:a', relation: 'viewer', subject: 'agent:b', required } };
    const policy = policyOf([{ id: 'all', effect: 'allow' }], [], relations);
    const call = (count: number) =>
      intentOf({ action: 'model.call', tool: null, args: { hosted_tools: many(count, () => tail(62)) } });
    expect(decided(policy, call(1_000))).toMatchObject({ needed: null, outcome: { kind: 'allow' }, isSpent: false });
    const { needed, outcome, asked } = decided(policy, call(50_000));
    expect(needed?.required).toEqual(['viewer']);
    expect(outcome).toMatchObject({
      ...denied,
      rules: [],
      reason: 'The rules exceed the work limit of one decision.',
    });
    expect(asked).toBeLessThan(askedMax);
  });

  it('is not one whose many hosted tools match one of many required patterns', () => {
    const tool = [...many(3_000, (nth) => `x${nth}.*`), 'a*'];
    const of = (name: string) => ({ object: 'file:a', relation: name, subject: 'agent:b', required: { tool } });
    const policy = policyOf([{ id: 'all', effect: 'allow' }], [], { viewer: of('viewer'), owner: of('owner') });
    const hosted_tools = many(10_000, (nth) => `a${nth}`);
    const { needed, steps, asked } = decided(
      policy,
      intentOf({ action: 'model.call', tool: null, args: { hosted_tools } }),
    );
    expect(needed?.required).toEqual(['viewer', 'owner']);
    expect(steps).toBeLessThan(500_000);
    expect(asked).toBeLessThan(500_000);
  });

  it('queries no relation for a name that is too long', () => {
    const relations = { viewer: { object: 'file:{args.a}', relation: 'viewer', subject: 'agent:b' } };
    const policy = policyOf([{ id: 'r', effect: 'allow', when: 'relations.viewer' }], [], relations);
    const question = (length: number) =>
      neededRelations(policy, intentOf({ args: { a: tail(length) } }))?.questions.get('viewer');
    expect(question(256)).toEqual({ object: `file:${tail(256)}`, relation: 'viewer', subject: 'agent:b' });
    expect(question(1_025)).toBeNull();
    // The filled template would be longer than the maximum length of a text.
    const often = { viewer: { ...relations.viewer, object: `file:${'{args.a}'.repeat(60)}` } };
    const asking = policyOf([{ id: 'r', effect: 'allow', when: 'relations.viewer' }], [], often);
    const { questions } = neededRelations(asking, intentOf({ args: { a: tail(10_000_000) } })) ?? {};
    expect(questions?.get('viewer')).toBeNull();
  });

  it('treats every name as confusable', () => {
    const { tools } = policyOf([{ id: 'a', effect: 'deny', match: { tool: ['pay.*'] } }]);
    expect(mistakenFor(tools, 'files.read')).toBeNull();
    expect(mistakenFor(tools, 'files.read', new CountedWork(0))).toBe('*');
  });
});

describe('the tests of a bundle', () => {
  // The loops run over an empty list, but their price covers all values of the test.
  const rules = [{ id: 'r', effect: 'allow', when: '!args.none.exists(x, args.none.exists(y, x == y))' }];
  const test = (nth: number, items = 300) => ({
    ...{ name: `t${nth}`, expect: { verdict: 'ALLOW' } },
    intent: { action: 'a.b', args: { none: [], list: many(items, () => 1) } },
  });
  const work = new CountedWork(decisionWorkMax);
  evaluateRules(policyOf(rules), callOfTest(bundleOf(rules, [test(0)]).tests[0]?.intent as never), environment, work);
  const fitting = Math.floor((50 * decisionWorkMax) / (decisionWorkMax - work.left));
  const limit = 'the tests of the bundle take more work than 50 decisions in total: write fewer or simpler ones';

  it('may take the work of 50 decisions in total', () => {
    expect(() =>
      policyOf(
        rules,
        many(fitting, (nth) => test(nth)),
      ),
    ).not.toThrow();
    expect(() =>
      policyOf(
        rules,
        many(fitting + 5, (nth) => test(nth)),
      ),
    ).toThrow(expect.objectContaining({ code: 'TOO_LARGE', path: `/tests/${fitting}` }));
    expect(() =>
      policyOf(
        rules,
        many(fitting + 5, (nth) => test(nth)),
      ),
    ).toThrow(limit);
  });

  it('have the same limit when their author runs them', async () => {
    const { tests } = parsePolicyBundle(
      bundleOf(
        rules,
        many(fitting + 5, (nth) => test(nth)),
      ),
    );
    const policy = policyOf(rules);
    const turns = { nextTurn: async () => undefined };
    for (const failed of [failedTests(policy, tests), await failedTestsInTurns(policy, tests, turns)])
      expect(failed).toEqual([expect.objectContaining({ code: 'TOO_LARGE', path: `/tests/${fitting}` })]);
  });

  it('may each take the work of one decision', () => {
    const failed = failedTests(policyOf(rules), parsePolicyBundle(bundleOf(rules, [test(0, 2_000), test(1)])).tests);
    expect(failed).toEqual([expect.objectContaining({ code: 'TEST_FAILED', path: '/tests/0' })]);
    expect(failed[0]?.message).toContain('got DENY (POLICY_EVALUATION_ERROR)');
  });
});

describe('a compilation whose caller has disconnected', () => {
  const gone = () => {
    const abort = new AbortController();
    let turns = 0;
    const nextTurn = async () => {
      turns += 1;
      if (turns === 3) abort.abort(new Error('the caller has gone'));
    };
    return { turns: { nextTurn, monotonicMs: monotonic(), signal: abort.signal }, count: () => turns };
  };
  const monotonic = () => {
    let now = 0;
    return () => (now += 1_000);
  };
  const bundle = bundleOf(
    many(50, (nth) => ({ id: `r${nth}`, effect: 'allow' })),
    many(50, (nth) => ({ name: `t${nth}`, intent: { action: 'a.b' }, expect: { verdict: 'ALLOW' } })),
  );

  it('stops at its next turn', async () => {
    const { turns, count } = gone();
    await expect(compileInTurns(bundle, nodeProvider, turns)).rejects.toThrow('the caller has gone');
    expect(count()).toBe(3);
  });

  it('runs no more tests', async () => {
    const { turns, count } = gone();
    const policy = compilePolicy({ ...bundle, tests: [] }, nodeProvider);
    await expect(failedTestsInTurns(policy, bundle.tests, turns)).rejects.toThrow('the caller has gone');
    expect(count()).toBe(3);
  });
});

describe('the evaluation of an expression', () => {
  const near = { l: many(500, (nth) => nth), t: tail(12_000), p: `${tail(1_600)}b${tail(1_600)}` };
  const end = { ...near, p: `${tail(3_200)}b` };

  it.each<[string, Record<string, unknown>]>([
    ['args.l.exists(x, args.t.contains(args.p)) || true', near],
    ['args.l.exists(x, args.t.lastIndexOf(args.p) == 0) || true', end],
    ['true || args.l.map(x, args.l + args.l).size() == 0', { l: many(9_000, (nth) => nth) }],
  ])('fails when the work of its decision is used up: %s', (when, args) => {
    const policy = policyOf([{ id: 'r0', effect: 'allow', match: {}, when }]);
    const { outcome, isSpent } = decided(policy, intentOf({ args: args as Intent['args'] }));
    expect(isSpent).toBe(true);
    expect(outcome).toMatchObject({ kind: 'deny', code: 'POLICY_EVALUATION_ERROR' });
  });
});
