import { describe, expect, it } from '@jest/globals';
import { comparisons } from '../src/comparisons.ts';
import { parseOptions } from '../src/options.ts';
import { ratioDefinitions, sidesOf } from '../src/ratios.ts';

const nothing = { only: [], against: null, isQuick: false, profiles: false };
const existing = ratioDefinitions.map(({ name }) => name);

describe('options of the bench', () => {
  it('select any number of ratios', () => {
    const args = ['--only', 'chat_vs_direct_c64', '--only', 'two_replicas_over_one', '--quick'];
    expect(parseOptions(args, existing)).toEqual({
      only: ['chat_vs_direct_c64', 'two_replicas_over_one'],
      against: null,
      isQuick: true,
      profiles: false,
    });
    expect(parseOptions([], existing)).toEqual(nothing);
    expect(parseOptions(['--profile'], existing)).toEqual({ ...nothing, profiles: true });
  });

  it('select all ratios whose names begin with a word, and another commit', () => {
    const { only, against } = parseOptions(['--only', 'chat', '--against', 'HEAD~1'], existing);
    expect(only).toEqual(['chat_vs_direct_c64', 'chat_cpu_over_evaluate', 'chat_300k_settled_over_fresh']);
    expect(against).toBe('HEAD~1');
  });

  it('reject an unknown ratio and an unknown option', () => {
    expect(() => parseOptions(['--only', 'cha'], existing)).toThrow(/No ratio is called cha\. There are evaluate_vs/);
    expect(() => parseOptions(['--fast'], existing)).toThrow(/Unknown option '--fast'/);
    expect(() => parseOptions(['chat_vs_direct_c64'], existing)).toThrow(/Unexpected argument/);
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

  it('measure each needed member once, and no other', () => {
    const read = new Set(ratioDefinitions.flatMap(sidesOf));
    expect(groups.flat().sort()).toEqual([...read].sort());
  });
});
