import { expect, it } from '@jest/globals';
import { victims } from './_installation.ts';
import { weather } from './_weather.ts';

/** The number of storms. Each has its own order of strikes and its own installation. */
const storms = 10;
const rounds = 3;
const first = Number(process.env['STORM_SEED'] ?? Date.now() % 1_000_000);

for (let nth = 0; nth < storms; nth += 1)
  it(`twenty runs end in a consistent state after a storm of ${rounds} rounds: ${nth + 1} of ${storms}`, async () => {
    const { struck, untrue } = await weather({ seed: first + nth, rounds });
    expect(untrue).toEqual([]);
    expect(struck).toEqual(new Set(victims));
  }, 600_000);
