import { parseArgs } from 'node:util';

export type Options = {
  /** Names of the ratios that are wanted; all when empty. */
  only: string[];
  isQuick: boolean;
  /** Every subject is profiled, also one that reached its goal or has none. */
  profiles: boolean;
};

/** How often and how long each member is measured. */
export type Pace = {
  rounds: number;
  windowSeconds: number;
  warmUpWindowSeconds: number;
  /** Bounds the warm-up of a machine that never settles. */
  warmUpWindowsMax: number;
  profileSeconds: number;
  /** How many runs wait for the two workers that drain them. */
  queuedRuns: number;
};

/** All comparisons at this pace, with the fills, stay under eight minutes on two cores. */
const wholePace: Pace = {
  rounds: 5,
  windowSeconds: 1.5,
  warmUpWindowSeconds: 1,
  warmUpWindowsMax: 10,
  profileSeconds: 3,
  queuedRuns: 1_000,
};

/** Shows that everything works; its figures mean little. */
const quickPace: Pace = {
  rounds: 2,
  windowSeconds: 0.5,
  warmUpWindowSeconds: 0.5,
  warmUpWindowsMax: 3,
  profileSeconds: 1,
  queuedRuns: 100,
};

export const usage = 'Options: --only <ratio>, as often as wanted; --quick; --profile';

/** Throws a TypeError for an option or a ratio that does not exist. */
export function parseOptions(args: readonly string[], known: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true, default: [] },
      quick: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
    },
  });
  const unknown = values.only.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new TypeError(`No ratio is called ${unknown.join(', ')}. There are ${known.join(', ')}`);
  return { only: values.only, isQuick: values.quick, profiles: values.profile };
}

export function paceOf({ isQuick }: Options): Pace {
  return isQuick ? quickPace : wholePace;
}
