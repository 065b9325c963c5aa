import { describe, expect, it } from '@jest/globals';
import { nextShares, reachOf, roomFor } from '../src/plan-limits/plan-shares.ts';

const share = (limit: number | null, used = 0) => ({ limit, used });

describe('the shares of a limit', () => {
  it('are the whole limit for a single workspace', () => {
    expect(nextShares(100, [share(null)])).toEqual([100]);
    expect(nextShares(100, [share(100, 100)])).toBeNull();
    expect(nextShares(50, [share(100, 20)])).toEqual([50]);
  });

  it('keep the used calls, divide the rest, and add up to the limit', () => {
    expect(nextShares(10, [share(null, 4), share(null, 1), share(null)])).toEqual([6, 3, 1]);
    expect(nextShares(10, [share(5, 5), share(5, 0)])).toEqual([8, 2]);
  });

  it('stay unchanged while every workspace has at least half of an equal part left', () => {
    expect(nextShares(10, [share(5, 2), share(5, 1)])).toBeNull();
    expect(nextShares(10, [share(5, 5), share(4, 0)])).not.toBeNull();
  });

  it('add nothing when the limit is used up', () => {
    expect(nextShares(3, [share(2, 2), share(null, 4)])).toEqual([2, 4]);
  });

  it('leave only the part of the limit that no workspace can reach, which is none while a workspace is unlimited', () => {
    expect(roomFor(10, [reachOf(share(null)), 2])).toBe(0);
    expect(roomFor(10, [reachOf(share(2, 6)), 2])).toBe(2);
  });
});
