import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { EarlierPlaces } from '../src/earlier-places.ts';
import { parseKeySet, verifyExport } from '../src/index.ts';
import { chainOf, exportOf, linesOf, testKeys, type Exported } from './chain-fixture.ts';

const options = { trust: parseKeySet(testKeys()), provider: nodeProvider };
const apart =
  'the growth of the log between the exports: this export does not have the last checkpoint of the earlier export';
const checkpoint = (size: number) => ({ origin: 'log.example/one', size, root: new Uint8Array(32).fill(size) });

/** The report on an export that is compared with an earlier export. */
function beside(earlierExport: Exported, exported: Exported) {
  const earlier = new EarlierPlaces();
  expect(verifyExport(linesOf(earlierExport), { ...options, places: earlier }).verdict).toBe('VERIFIED');
  return verifyExport(linesOf(exported), { ...options, earlier });
}

describe('an export compared with an earlier one', () => {
  it('belongs to the same log if both have the same root for one size', async () => {
    const whole = await exportOf([chainOf(3)]);
    const { verdict, limits } = beside(whole, whole);
    expect([verdict, limits.includes(apart)]).toEqual(['VERIFIED', false]);
  });

  it('has another history if the roots for one size differ, even if all receipts have the same place', async () => {
    const [one, second] = [
      await exportOf([chainOf(3)]),
      await exportOf([chainOf(3, { session: 'session-2', from: 50 })]),
    ];
    const withoutPlaces = new EarlierPlaces();
    verifyExport(linesOf(one).slice(0, 1), { ...options, places: withoutPlaces });
    const { fault } = verifyExport(linesOf(second), { ...options, earlier: withoutPlaces });
    expect(fault).toMatchObject({
      code: 'CONSISTENCY_UNPROVEN',
      line: 1,
      message: expect.stringContaining('a different root'),
    });
  });

  it('reports that the growth is unproven if they have no common size', async () => {
    const [early, late] = [await exportOf([chainOf(2)]), await exportOf([chainOf(3)])];
    expect(beside(early, early).limits).not.toContain(apart);
    const { limits, fault } = beside(early, late);
    expect([fault, limits.includes(apart)]).toEqual([null, true]);
  });

  it.each([
    [[1, 3], [1, 5], 'unproven'],
    [[0, 3], [0, 5], 'unproven'],
    [[0], [0], 'unproven'],
    [[1, 3], [3, 5], 'proven'],
    [[1, 3], [1, 3], 'proven'],
    [[3], [2], 'unproven'],
  ])('with checkpoints of %j leaves, and then of %j, has a growth that is %s', (before, after, growth) => {
    const earlier = new EarlierPlaces();
    for (const size of before) earlier.noteCheckpoint(checkpoint(size));
    for (const size of after) earlier.compareCheckpoint(checkpoint(size));
    expect(earlier.limits()).toEqual(growth === 'proven' ? [] : [apart]);
  });

  it('is refused if it belongs to another log', () => {
    const earlier = new EarlierPlaces();
    const tree = { size: 1, root: new Uint8Array(32) };
    earlier.noteCheckpoint({ ...tree, origin: 'log.example/one' });
    expect(() => earlier.compareCheckpoint({ ...tree, origin: 'log.example/other' })).toThrow(
      /from a different log, log.example\/one/,
    );
    expect(() => new EarlierPlaces().compareCheckpoint({ ...tree, origin: 'log.example/other' })).not.toThrow();
  });
});
