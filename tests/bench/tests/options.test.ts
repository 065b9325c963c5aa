import { describe, expect, it } from '@jest/globals';
import { comparisons } from '../src/comparisons.ts';
import { parseOptions } from '../src/options.ts';
import { ratioDefinitions, sidesOf } from '../src/ratios.ts';

const known = ratioDefinitions.map(({ name }) => name);

describe('options of the bench', () => {
  it('name the ratios that are wanted, as many as one likes', () => {
    const args = ['--only', 'chat_vs_direct_c64', '--only', 'two_replicas_over_one', '--quick'];
    expect(parseOptions(args, known)).toEqual({
      only: ['chat_vs_direct_c64', 'two_replicas_over_one'],
      isQuick: true,
      profiles: false,
    });
    expect(parseOptions([], known)).toEqual({ only: [], isQuick: false, profiles: false });
    expect(parseOptions(['--profile'], known)).toEqual({ only: [], isQuick: false, profiles: true });
  });

  it('refuse a ratio and an option that do not exist', () => {
    expect(() => parseOptions(['--only', 'chat'], known)).toThrow(/No ratio is called chat\. There are evaluate_vs/);
    expect(() => parseOptions(['--fast'], known)).toThrow(/Unknown option '--fast'/);
    expect(() => parseOptions(['chat_vs_direct_c64'], known)).toThrow(/Unexpected argument/);
  });
});

describe('the comparisons', () => {
  const groups = comparisons.flatMap((comparison) => comparison.groups);

  it('measure both sides of every ratio in one group, where they take turns', () => {
    const apart = ratioDefinitions.filter(
      (definition) => !groups.some((group) => sidesOf(definition).every((side) => group.includes(side))),
    );
    expect(apart.map(({ name }) => name)).toEqual([]);
  });

  it('measure nothing that no ratio reads, and nothing twice', () => {
    const read = new Set(ratioDefinitions.flatMap(sidesOf));
    expect(groups.flat().sort()).toEqual([...read].sort());
  });
});
