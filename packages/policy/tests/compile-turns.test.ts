import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { workedMs } from '@countersign/testkit/worked';
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
const clauses = (count: number, of: (nth: number) => string) => many(count, of).join(' || ');

/** What fits into a request and takes a compiler long. */
const bundles = {
  'conditions of one tool': bundleOf(
    many(5_000, (nth) => rule(nth, { match: { tool: ['x.y'] }, when: `args.a${nth % 9} == ${nth}` })),
  ),
  'names of tools': bundleOf(many(4, (nth) => rule(nth, { match: { tool: many(20_000, (of) => `tool-${of}`) } }))),
  'long conditions': bundleOf(many(100, (nth) => rule(nth, { when: clauses(200, (of) => `args.a${of} == ${of}`) }))),
  'tests over all rules': bundleOf(
    many(2_000, (nth) => rule(nth, { match: { action: ['x*'] }, when: `args.a == ${nth}` })),
    many(20, (nth) => ({
      ...{ name: `t${nth}`, expect: { verdict: 'DENY' } },
      intent: { action: 'xy', args: { a: nth } },
    })),
  ),
};

/** The most work without a turn for others: the best of some tries, since others may work on this machine. */
async function longestMs(bundle: ReturnType<typeof bundleOf>): Promise<number> {
  const tries: number[] = [];
  while (tries.length < 4) {
    let longest = 0;
    let since = workedMs();
    const noted = () => (longest = Math.max(longest, workedMs() - since));
    const turn = async () => {
      noted();
      await nextTurn();
      since = workedMs();
    };
    await compileInTurns(bundle, nodeProvider, { nextTurn: turn, monotonicMs: () => performance.now() });
    noted();
    tries.push(longest);
  }
  return Math.min(...tries);
}

describe('compiling in turns', () => {
  it.each(Object.entries(bundles))('%s: lets others in before they notice', async (_what, bundle) => {
    expect(await longestMs(bundle)).toBeLessThan(100);
  });

  it('lets others in whenever five milliseconds have passed, and not before', async () => {
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
    // A turn is as long as it is, and the time begins anew behind it.
    expect(await turnsAt(2)).toBe(Math.floor(steps / 3));
  });

  it('lets others in after each test, and ends when nobody would mend more', async () => {
    const { tests, ...bundle } = bundles['tests over all rules'];
    const policy = compilePolicy({ ...bundle, tests: [] }, nodeProvider);
    const failing = many(300, () => ({ ...tests[0], expect: { verdict: 'ALLOW' } })) as typeof tests;
    let turns = 0;
    const nextTurn = async () => void (turns += 1);
    expect(await failedTestsInTurns(policy, failing, { nextTurn })).toHaveLength(100);
    expect(turns).toBe(99);
    expect(await failedTestsInTurns(policy, tests, { nextTurn })).toEqual([]);
  });

  it('reads a mapping of many keys without comparing each with each, and refuses the same key twice', () => {
    const keys = many(20_000, (nth) => `k${nth}: 1`).join('\n');
    const since = workedMs();
    const code = (text: string) => {
      try {
        parsePolicyBundle(text);
        return null;
      } catch (error) {
        return (error as PolicyError).code;
      }
    };
    expect(code(keys)).toBe('MALFORMED_BUNDLE');
    expect(workedMs() - since).toBeLessThan(2_000);
    expect(code('format: a\nname: b\nname: c')).toBe('YAML_REFUSED');
  });

  it('comes to the same policy, and to the same refusal', async () => {
    const turns = { nextTurn: () => nextTurn(), monotonicMs: () => performance.now() };
    const bundle = bundles['tests over all rules'];
    const { hash, readSet } = await compileInTurns(bundle, nodeProvider, turns);
    expect({ hash, readSet }).toEqual({ ...pickOf(compilePolicy(bundle, nodeProvider)) });
    const broken = { ...bundle, tests: [{ ...bundle.tests[0], expect: { verdict: 'ALLOW' } }] } as typeof bundle;
    const code = (error: unknown) => (error as PolicyError).code;
    expect(await compileInTurns(broken, nodeProvider, turns).catch(code)).toBe('TEST_FAILED');
  });
});

const pickOf = ({ hash, readSet }: { hash: string; readSet: readonly string[] }) => ({ hash, readSet });
