import type { Profiler } from 'node:inspector';
import { describe, expect, it } from '@jest/globals';
import { summariseProfile } from '../src/profile.ts';

type Sample = { name: string; url?: string; line?: number; micros: number };

/** A profile in which every sample has its own node, as calls from different places have. */
function profileOf(samples: readonly Sample[]): Profiler.Profile {
  return {
    nodes: samples.map(({ name, url = '', line = 0 }, id) => ({
      id,
      callFrame: { functionName: name, scriptId: '1', url, lineNumber: line, columnNumber: 0 },
    })),
    startTime: 0,
    endTime: 0,
    samples: samples.map((_, id) => id),
    timeDeltas: samples.map(({ micros }) => micros),
  };
}

describe('a profile', () => {
  it('sums the time of a function over all its callers, heaviest first, and counts idle time separately', () => {
    const { idleShare, heaviest } = summariseProfile(
      profileOf([
        { name: '(idle)', micros: 500 },
        { name: 'seal', url: 'node:crypto', line: 4, micros: 200 },
        { name: 'parse', micros: 225 },
        { name: 'seal', url: 'node:crypto', line: 4, micros: 75 },
      ]),
    );
    expect(idleShare).toBe(0.5);
    expect(heaviest).toEqual([
      { name: 'seal', place: 'node:crypto:5', share: 0.55 },
      { name: 'parse', place: '', share: 0.45 },
    ]);
  });

  it('leaves out the profiler, but not a function of ours with the same name', () => {
    const { heaviest } = summariseProfile(
      profileOf([
        { name: 'dispatch', micros: 900 },
        { name: 'dispatch', url: 'node:net', micros: 100 },
      ]),
    );
    expect(heaviest).toEqual([{ name: 'dispatch', place: 'node:net:1', share: 1 }]);
  });

  it('lists at most ten functions, and shortens the paths of packages', () => {
    const samples = Array.from({ length: 12 }, (_, index) => ({ name: `f${index}`, micros: 12 - index }));
    const url = 'file:///x/node_modules/.pnpm/pg@8/node_modules/pg/lib/client.js';
    const { heaviest } = summariseProfile(profileOf([{ name: 'query', url, micros: 100 }, ...samples]));
    expect(heaviest).toHaveLength(10);
    expect(heaviest[0]?.place).toBe('pg/lib/client.js:1');
  });

  it('without samples lists no function and no idle time', () => {
    expect(summariseProfile(profileOf([]))).toEqual({ idleShare: 0, heaviest: [] });
  });
});
