import { describe, expect, it } from '@jest/globals';
import { comparisons } from '../src/comparisons.ts';
import { parseOptions } from '../src/options.ts';
import { ratioDefinitions, sidesOf } from '../src/ratios.ts';

const existing = ratioDefinitions.map(({ name }) => name);

describe('options of the bench', () => {
  it('select any number of ratios', () => {
    const args = ['--only', 'chat_vs_direct_c64', '--only', 'two_replicas_over_one', '--quick'];
    expect(parseOptions(args, existing)).toEqual({
      only: ['chat_vs_direct_c64', 'two_replicas_over_one'],
      isQuick: true,
      profiles: false,
    });
    expect(parseOptions([], existing)).toEqual({ only: [], isQuick: false, profiles: false });
    expect(parseOptions(['--profile'], existing)).toEqual({ only: [], isQuick: false, profiles: true });
  });

  it('reject an unknown ratio and an unknown option', () => {
    expect(() => parseOptions(['--only', 'chat'], existing)).toThrow(/No ratio is called chat\. There are evaluate_vs/);
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
