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

describe('the level of a test', () => {
  it.each([
    ['packages/crypto/tests/merkle.test.ts', 'unit'],
    ['packages/console/tests/stops.test.tsx', 'unit'],
    ['packages/audit/tests/chain.test.ts', 'store'],
    ['services/governance-kernel/tests/evaluate.test.ts', 'service'],
    ['packages/service-kit/tests/serve-http.test.ts', 'service'],
    ['tests/e2e/stops.test.ts', 'system'],
  ])('%s is %s by what it and its helpers import', (path, level) => {
    expect(levelOf(path)).toBe(level);
  });

  it('is one for each test file, and every level has files', () => {
    const byLevel = filesByLevel();
    const all = [...byLevel.values()].flat();
    expect([...byLevel.keys()]).toEqual(levels);
    expect(new Set(all).size).toBe(all.length);
    expect([...byLevel.values()].every((files) => files.length > 0)).toBe(true);
  });

  it('chooses files together with a part of their paths', () => {
    const wanted = wantedFiles({ level: 'unit', paths: ['packages/crypto/'] });
    expect(wanted.map(([level]) => level)).toEqual(['unit']);
    expect(wanted.flatMap(([, files]) => files).every((path) => path.startsWith('packages/crypto/'))).toBe(true);
    expect(wantedFiles({ paths: ['no such path'] })).toEqual([]);
  });
});

describe('an order', () => {
  it('is the same for a seed, holds every member once, and differs between seeds', () => {
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

  it('are in an order that follows from the seed, at every depth, and those of a story as they are written', () => {
    const [names, others] = [shuffled('1'), shuffled('2')];
    expect(names).toEqual(shuffled('1'));
    for (const name of ['a', 'd']) {
      const [own, other] = [names, others].map((list) => list.filter((each) => each.startsWith(`${name} `)));
      const written = namesOf(block(name));
      expect(own?.toSorted()).toEqual(written.toSorted());
      expect([own, other]).not.toContainEqual(written);
      expect(own).not.toEqual(other);
    }
    expect(names.filter((each) => /^[bc] /.test(each))).toEqual([...namesOf(block('b')), ...namesOf(block('c'))]);
  });

  it('have one seed in every checkout, and each file its own', () => {
    const seed = seedOfFile(1, { rootDir: '/a', path: '/a/x.test.ts' });
    expect(seedOfFile(1, { rootDir: '/b/c', path: '/b/c/x.test.ts' })).toBe(seed);
    expect(seedOfFile(2, { rootDir: '/a', path: '/a/x.test.ts' })).not.toBe(seed);
    expect(seedOfFile(1, { rootDir: '/a', path: '/a/y.test.ts' })).not.toBe(seed);
  });

  describe('that runs', () => {
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

  it('fail when Jest ends without a summary, or with a code that no test explains', () => {
    expect(readResults(join(scratch, 'none.json'), 0)).toMatchObject({ passed: 0, failed: 1 });
    expect(readResults(summary('[{"file":'), 0)).toMatchObject({ failed: 1 });
    expect(readResults(summary(JSON.stringify([file])), 1)).toMatchObject({ passed: 2, failed: 1 });
    expect(readResults(summary(JSON.stringify([file])), 0)).toMatchObject({ passed: 2, failed: 0 });
  });

  it('count a promise as failed when one of its tests failed, whatever came later', () => {
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

  it('is exceeded at half more on a quiet machine only, and grows with the slowness of the machine', () => {
    expect(overBudget(taking(8.9), quiet)).toEqual([]);
    const [over, ...others] = overBudget(taking(9.1), quiet);
    expect(over?.message).toContain('took 9.1 s on a quiet machine');
    expect(others).toEqual([]);
    expect(withFailures(resultsOf(taking(9.1)), over === undefined ? [] : [over]).failed).toBe(1);
    expect(overBudget(taking(9.1), { isQuiet: false, slowness: 1 })).toEqual([]);
    expect(overBudget(taking(9.1), { isQuiet: true, slowness: 2 })).toEqual([]);
  });
});

describe('the options of a run', () => {
  it('name what is unknown', () => {
    expect(() => parseOptions(['--level=big'])).toThrow('There is no level "big"; the levels are unit, store');
    expect(() => parseOptions(['--seed=x'])).toThrow('A seed is a number up to 2147483647, not "x"');
  });

  it('are a whole run when nothing is chosen', () => {
    expect(parseOptions(['--rerun', '--seed=7'])).toMatchObject({ isWhole: true, rerun: true, seed: 7 });
    expect(parseOptions(['tests/e2e'])).toMatchObject({ isWhole: false, paths: ['tests/e2e'] });
    expect(parseOptions(['--level=unit'])).toMatchObject({ isWhole: false, level: 'unit' });
  });
});
