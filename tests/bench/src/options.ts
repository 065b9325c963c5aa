import { parseArgs } from 'node:util';

export type Options = {
  /** Names of the requested ratios. Empty for all. */
  only: string[];
  isQuick: boolean;
  /** Whether every subject is profiled, even one that reached its goal or has none. */
  profiles: boolean;
};

/** The number and length of the measurements of each member. */
export type Pace = {
  rounds: number;
  windowSeconds: number;
  warmUpWindowSeconds: number;
  /** The limit of warm-up windows on a machine that never settles. */
  warmUpWindowsMax: number;
  profileSeconds: number;
  /** The number of runs that wait for the two workers. */
  queuedRuns: number;
};

/** With this pace all comparisons and fills take about 15 minutes on two cores. */
const wholePace: Pace = {
  rounds: 5,
  windowSeconds: 1.5,
  warmUpWindowSeconds: 1,
  warmUpWindowsMax: 10,
  profileSeconds: 3,
  queuedRuns: 1_000,
};

/** A pace that shows that everything works. Its figures mean little. */
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
export function parseOptions(args: readonly string[], existing: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true, default: [] },
      quick: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
    },
  });
  const unknown = values.only.filter((name) => !existing.includes(name));
  if (unknown.length > 0)
    throw new TypeError(`No ratio is called ${unknown.join(', ')}. There are ${existing.join(', ')}`);
  return { only: values.only, isQuick: values.quick, profiles: values.profile };
}

export function paceOf({ isQuick }: Options): Pace {
  return isQuick ? quickPace : wholePace;
}
