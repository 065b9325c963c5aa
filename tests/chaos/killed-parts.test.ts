import { describe, expect } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { victims } from './_installation.ts';
import { weather } from './_weather.ts';

/** A different order in each run. A failure prints the seed. */
const seed = Number(process.env['STORM_SEED'] ?? Date.now() % 1_000_000);

describe('twenty runs, while every part is killed or disconnected', () => {
  verifies(
    'gw.run.crash',
    'end in a consistent state: one decision for each step, one effect for each allowed step, and complete chains',
    async () => {
      const { struck, untrue } = await weather({ seed, rounds: 1 });
      expect(untrue).toEqual([]);
      expect(struck).toEqual(new Set(victims));
    },
  );
});
