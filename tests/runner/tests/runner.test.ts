import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { describeStory } from '@countersign/testkit/describe-story';
import fc from 'fast-check';
import { overBudget } from '../budgets.mjs';
import { filesByLevel, levelOf, levels } from '../levels.mjs';
import { parseOptions } from '../options.mjs';
import { merge, readResults, resultsOf, withFailures } from '../results.mjs';
import { seedOfFile, shuffle, shuffleTests } from '../shuffle.mjs';
import { wantedFiles } from '../wanted-files.mjs';

const file = { file: 'a', seconds: 1, passed: 2, skipped: 0, promises: {}, failures: [] };
const failure = { title: 'x', message: 'y' };
let scratch: string;

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'countersign-runner-'));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe('the levels of tests', () => {
  it.each([
    ['packages/crypto/tests/merkle.test.ts', 'unit'],
    ['packages/console/tests/stops.test.tsx', 'unit'],
    ['packages/audit/tests/chain.test.ts', 'store'],
    ['services/governance-kernel/tests/evaluate.test.ts', 'service'],
    ['packages/service-kit/tests/serve-http.test.ts', 'service'],
    ['tests/e2e/stops.test.ts', 'system'],
  ])('follow from imports: with its helpers, %s has the level %s', (path, level) => {
    expect(levelOf(path)).toBe(level);
  });

  it('contain each test file exactly once, and every level has files', () => {
    const byLevel = filesByLevel();
    const all = [...byLevel.values()].flat();
    expect([...byLevel.keys()]).toEqual(levels);
    expect(new Set(all).size).toBe(all.length);
    expect([...byLevel.values()].every((files) => files.length > 0)).toBe(true);
  });

  it('can be combined with a part of a path, which narrows the files', () => {
    const wanted = wantedFiles({ level: 'unit', paths: ['packages/crypto/'] });
    expect(wanted.map(([level]) => level)).toEqual(['unit']);
    expect(wanted.flatMap(([, files]) => files).every((path) => path.startsWith('packages/crypto/'))).toBe(true);
    expect(wantedFiles({ paths: ['no such path'] })).toEqual([]);
  });
});

describe('an order', () => {
  it('is the same for one seed, contains every member once, and differs between seeds', () => {
    const list = Array.from({ length: 50 }, (_, index) => index);
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const order = shuffle(list, seed);
        expect(order).toEqual(shuffle(list, seed));
        expect(order.toSorted((a, b) => a - b)).toEqual(list);
        expect(order).not.toEqual(shuffle(list, seed + 1));
      }),
      { numRuns: 50 },
    );
  });
});

describe('the tests of a file', () => {
  type Block = { type: 'test' | 'describeBlock'; name: string; children: Block[] };
  const numbers = Array.from({ length: 20 }, (_, index) => index);
  const test = (name: string): Block => ({ type: 'test', name, children: [] });
  const block = (name: string, children = numbers.map((nth) => test(`${name} ${nth}`))): Block => ({
    type: 'describeBlock',
    name,
    children,
  });
  const namesOf = ({ type, name, children }: Block): string[] => (type === 'test' ? [name] : children.flatMap(namesOf));
  const shuffled = (seed: string) => {
    const root = block('', [
      block('a'),
      block('story [story]', [block('b'), block('c')]),
      ...numbers.map((nth) => test(`d ${nth}`)),
    ]);
    shuffleTests(root, seed);
    return namesOf(root);
  };

  it('have an order from the seed at every depth, and stories keep their written order', () => {
    const [names, others] = [shuffled('1'), shuffled('2')];
    expect(names).toEqual(shuffled('1'));
    for (const name of ['a', 'd']) {
      const [own, second] = [names, others].map((list) => list.filter((each) => each.startsWith(`${name} `)));
      const written = namesOf(block(name));
      expect(own?.toSorted()).toEqual(written.toSorted());
      expect([own, second]).not.toContainEqual(written);
      expect(own).not.toEqual(second);
    }
    expect(names.filter((each) => /^[bc] /.test(each))).toEqual([...namesOf(block('b')), ...namesOf(block('c'))]);
  });

  it('have the same seed in every checkout, and a different seed in each file', () => {
    const seed = seedOfFile(1, { rootDir: '/a', path: '/a/x.test.ts' });
    expect(seedOfFile(1, { rootDir: '/b/c', path: '/b/c/x.test.ts' })).toBe(seed);
    expect(seedOfFile(2, { rootDir: '/a', path: '/a/x.test.ts' })).not.toBe(seed);
    expect(seedOfFile(1, { rootDir: '/a', path: '/a/y.test.ts' })).not.toBe(seed);
  });

  describe('when they run', () => {
    const ran: Record<'any' | 'story', number[]> = { any: [], story: [] };
    describe('outside a story', () => {
      it.each(numbers)('%d', (nth) => {
        ran.any.push(nth);
      });
    });
    describeStory('in a story', () => {
      it.each(numbers)('%d', (nth) => {
        ran.story.push(nth);
      });
    });
    afterAll(() => {
      expect(ran.any.toSorted((a, b) => a - b)).toEqual(numbers);
      expect(ran.any).not.toEqual(numbers);
      expect(ran.story).toEqual(numbers);
    });
  });
});

describe('the results of a run', () => {
  const summary = (content: string) => {
    const path = join(scratch, 'summary.json');
    writeFileSync(path, content);
    return path;
  };

  it('count as failed when Jest ends without a summary, or with an exit code that no test explains', () => {
    expect(readResults(join(scratch, 'none.json'), 0)).toMatchObject({ passed: 0, failed: 1 });
    expect(readResults(summary('[{"file":'), 0)).toMatchObject({ failed: 1 });
    expect(readResults(summary(JSON.stringify([file])), 1)).toMatchObject({ passed: 2, failed: 1 });
    expect(readResults(summary(JSON.stringify([file])), 0)).toMatchObject({ passed: 2, failed: 0 });
  });

  it('count a promise as failed when one of its tests failed, even if a later one passed', () => {
    const failed = { ...file, promises: { 'gw.a': 'failed' as const }, failures: [failure] };
    const passed = { ...file, promises: { 'gw.a': 'passed' as const } };
    expect(merge(resultsOf([failed]), resultsOf([passed]))).toMatchObject({
      passed: 4,
      failed: 1,
      promises: { 'gw.a': 'failed' },
    });
  });
});

describe('the budget of a file', () => {
  const quiet = { isQuiet: true, slowness: 1 };
  const taking = (seconds: number) => [{ ...file, file: 'packages/crypto/tests/merkle.test.ts', seconds }];

  it('is exceeded only by half or more and on a quiet machine, and grows on a slower machine', () => {
    expect(overBudget(taking(8.9), quiet)).toEqual([]);
    const [over, ...others] = overBudget(taking(9.1), quiet);
    expect(over?.message).toContain('took 9.1 s on a quiet machine');
    expect(others).toEqual([]);
    expect(withFailures(resultsOf(taking(9.1)), over === undefined ? [] : [over]).failed).toBe(1);
    expect(overBudget(taking(9.1), { isQuiet: false, slowness: 1 })).toEqual([]);
    expect(overBudget(taking(9.1), { isQuiet: true, slowness: 2 })).toEqual([]);
    expect(overBudget(taking(18.1), { isQuiet: true, slowness: 2 })).toHaveLength(1);
    expect(overBudget(taking(99), { isQuiet: true, slowness: 2.1 })).toEqual([]);
  });
});

describe('the options of a run', () => {
  it('are rejected with the unknown value', () => {
    expect(() => parseOptions(['--level=big'])).toThrow('There is no level "big"; the levels are unit, store');
    expect(() => parseOptions(['--seed=x'])).toThrow('A seed is a number up to 2147483647, not "x"');
  });

  it('select a whole run by default', () => {
    expect(parseOptions(['--rerun', '--seed=7'])).toMatchObject({ isWhole: true, rerun: true, seed: 7 });
    expect(parseOptions(['tests/e2e'])).toMatchObject({ isWhole: false, paths: ['tests/e2e'] });
    expect(parseOptions(['--level=unit'])).toMatchObject({ isWhole: false, level: 'unit' });
  });
});
