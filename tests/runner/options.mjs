import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { levels } from './levels.mjs';

/**
 * The largest seed. A seed determines the order of files and tests. A run prints it, so that `seed=` can repeat the
 * order.
 */
const seedMax = 2 ** 31 - 1;

/**
 * @returns {{
 *   isWhole: boolean, level: string | undefined, changed: boolean, rerun: boolean, seed: number, paths: string[],
 *   jest: string[] | undefined, bench: string[] | undefined,
 * }} Throws when a value is not known.
 */
export function parseOptions(args) {
  const none = { isWhole: false, level: undefined, changed: false, rerun: false, seed: randomInt(seedMax), paths: [] };
  if (args[0] === '--bench') return { ...none, bench: args.slice(1) };
  if (args[0] === '--jest') return { ...none, jest: args.slice(1) };
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      level: { type: 'string' },
      changed: { type: 'boolean' },
      rerun: { type: 'boolean' },
      seed: { type: 'string' },
    },
  });
  const { level, changed = false, rerun = false, seed = String(none.seed) } = values;
  if (level !== undefined && !levels.includes(level))
    throw new Error(`There is no level "${level}"; the levels are ${levels.join(', ')}`);
  if (!/^\d+$/.test(seed) || Number(seed) > seedMax)
    throw new Error(`A seed is a number up to ${seedMax}, not "${seed}"`);
  const isWhole = level === undefined && !changed && positionals.length === 0;
  return { isWhole, level, changed, rerun, seed: Number(seed), paths: positionals };
}
