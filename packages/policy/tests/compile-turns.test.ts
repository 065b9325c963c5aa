import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { leastWorkMs } from '@countersign/testkit/worked';
import {
  compileInTurns,
  compilePolicy,
  failedTestsInTurns,
  parsePolicyBundle,
  type PolicyError,
} from '../src/index.ts';
import { bundleOf } from './situation.ts';

const many = <Item>(count: number, item: (nth: number) => Item) => Array.from({ length: count }, (_, nth) => item(nth));
const rule = (nth: number, members: object) => ({ id: `r${nth}`, effect: 'deny', ...members });

/** Bundles with many items of one kind, which make compilation longer. */
const bundles: Record<string, (count: number) => ReturnType<typeof bundleOf>> = {
  rules: (count) =>
    bundleOf(many(count, (nth) => rule(nth, { match: { tool: ['x.y'] }, when: `args.a${nth % 9} == ${nth}` }))),
  'tool names': (count) => bundleOf([rule(0, { match: { tool: many(count, (nth) => `tool-${nth}`) } })]),
  'declared tools': (count) => {
    const tools = Object.fromEntries(many(count, (nth) => [`tool-${nth}`, { effect_level: 'E1' }]));
    return { ...bundleOf([rule(0, {})]), tools } as ReturnType<typeof bundleOf>; // the written form of a bundle
  },
  tests: testsOverRules,
};

function testsOverRules(count: number): ReturnType<typeof bundleOf> {
  return bundleOf(
    many(20, (nth) => rule(nth, { match: { action: ['x*'] }, when: `args.a == ${nth}` })),
    many(count, (nth) => ({
      ...{ name: `t${nth}`, expect: { verdict: 'DENY' } },
      intent: { action: 'xy', args: { a: nth % 20 } },
    })),
  );
}

/** The number of turns that other work gets, if every compilation step is longer than a turn. */
async function turnsOf(bundle: ReturnType<typeof bundleOf>): Promise<number> {
  let turns = 0;
  let now = 0;
  const nextTurn = async () => void (turns += 1);
  await compileInTurns(bundle, nodeProvider, { nextTurn, monotonicMs: () => (now += 1_000) });
  return turns;
}

describe('compiling in turns', () => {
  it.each(Object.entries(bundles))('yields to other work at each of the %s', async (_what, bundle) => {
    expect((await turnsOf(bundle(150))) - (await turnsOf(bundle(50)))).toBeGreaterThanOrEqual(100);
  });

  it('yields to other work every five milliseconds, and not earlier', async () => {
    const bundle = bundleOf(many(9, (nth) => rule(nth, {})));
    const turnsAt = async (msPerStep: number) => {
      let now = 7;
      let turns = 0;
      const nextTurn = async () => void (turns += 1);
      await compileInTurns(bundle, nodeProvider, { nextTurn, monotonicMs: () => (now += msPerStep) });
      return turns;
    };
    const steps = await turnsAt(5);
    expect(steps).toBeGreaterThan(20);
    expect(await turnsAt(4.9)).toBe(Math.floor(steps / 2));
    expect(await turnsAt(0)).toBe(0);
    // With steps of 2 ms, a turn ends after three steps. The next turn begins there and has its full length.
    expect(await turnsAt(2)).toBe(Math.floor(steps / 3));
  });

  it('yields to other work after each test, and stops at the maximum number of failures', async () => {
    const { tests, ...bundle } = testsOverRules(20);
    const policy = compilePolicy({ ...bundle, tests: [] }, nodeProvider);
    const failing = many(300, () => ({ ...tests[0], expect: { verdict: 'ALLOW' } })) as typeof tests;
    let turns = 0;
    const nextTurn = async () => void (turns += 1);
    expect(await failedTestsInTurns(policy, failing, { nextTurn })).toHaveLength(100);
    expect(turns).toBe(99);
    expect(await failedTestsInTurns(policy, tests, { nextTurn })).toEqual([]);
  });

  it('reads a mapping with many keys in linear time, and rejects duplicate keys', async () => {
    const keys = many(20_000, (nth) => `k${nth}: 1`).join('\n');
    const code = (text: string) => {
      try {
        parsePolicyBundle(text);
        return null;
      } catch (error) {
        return (error as PolicyError).code;
      }
    };
    expect(await leastWorkMs(() => expect(code(keys)).toBe('MALFORMED_BUNDLE'))).toBeLessThan(2_000);
    expect(code('format: a\nname: b\nname: c')).toBe('YAML_REFUSED');
  });

  it('returns the same policy and the same errors as compiling at once', async () => {
    let now = 0;
    const turns = { nextTurn: async () => undefined, monotonicMs: () => (now += 3) };
    const bundle = testsOverRules(20);
    const { hash, readSet } = await compileInTurns(bundle, nodeProvider, turns);
    expect({ hash, readSet }).toEqual({ ...pickOf(compilePolicy(bundle, nodeProvider)) });
    const broken = { ...bundle, tests: [{ ...bundle.tests[0], expect: { verdict: 'ALLOW' } }] } as typeof bundle;
    const code = (error: unknown) => (error as PolicyError).code;
    expect(await compileInTurns(broken, nodeProvider, turns).catch(code)).toBe('TEST_FAILED');
  });
});

const pickOf = ({ hash, readSet }: { hash: string; readSet: readonly string[] }) => ({ hash, readSet });
