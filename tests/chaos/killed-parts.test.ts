import { describe, expect } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { victims } from './_installation.ts';
import { weather } from './_weather.ts';

/** Another order each time; a failure prints it. */
const seed = Number(process.env['STORM_SEED'] ?? Date.now() % 1_000_000);

describe('twenty runs, while every part is killed or cut', () => {
  verifies(
    'gw.run.crash',
    'end in a true state: one decision for each step, one effect for each that was allowed, every chain whole',
    async () => {
      const { struck, untrue } = await weather({ seed, rounds: 1 });
      expect(untrue).toEqual([]);
      expect(struck).toEqual(new Set(victims));
    },
    400_000,
  );
});
