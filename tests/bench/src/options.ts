import { parseArgs } from 'node:util';

export type Options = {
  /** Names of the requested ratios. Empty for all. */
  only: string[];
  /** The commit that is compared with the current build. `null` for the comparison with floors. */
  against: string | null;
  isQuick: boolean;
  /** Whether every subject is profiled, even one that reached its goal or has none. */
  profiles: boolean;
};

/** The number and length of the measurements of each member. */
export type Pace = {
  /** How often each comparison is opened, with new processes. */
  openings: number;
  /** The number of windows of each member in one opening. */
  rounds: number;
  windowSeconds: number;
  warmUpWindowSeconds: number;
  /** The limit of warm-up windows on a machine that never settles. */
  warmUpWindowsMax: number;
  profileSeconds: number;
  /** The number of runs that wait for the two workers. */
  queuedRuns: number;
};

/** With this pace all comparisons and fills take about 20 minutes on two cores. */
const wholePace: Pace = {
  openings: 3,
  rounds: 3,
  windowSeconds: 1.5,
  warmUpWindowSeconds: 1,
  warmUpWindowsMax: 10,
  profileSeconds: 3,
  queuedRuns: 1_000,
};

/** A pace that shows that everything works. Its figures mean little. */
const quickPace: Pace = {
  openings: 1,
  rounds: 2,
  windowSeconds: 0.5,
  warmUpWindowSeconds: 0.5,
  warmUpWindowsMax: 3,
  profileSeconds: 1,
  queuedRuns: 100,
};

export const usage =
  'Options: --only <ratio, or its first word>, as often as wanted; --against <commit>; --quick; --profile';

/** Throws a TypeError for an option or a ratio that does not exist. */
export function parseOptions(args: readonly string[], existing: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true, default: [] },
      against: { type: 'string' },
      quick: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
    },
  });
  const only = values.only.flatMap((name) => matching(name, existing));
  return { only, against: values.against ?? null, isQuick: values.quick, profiles: values.profile };
}

/** The ratio of this name, or all ratios whose names begin with this word. */
function matching(name: string, existing: readonly string[]): string[] {
  const found = existing.filter((ratio) => ratio === name || ratio.startsWith(`${name}_`));
  if (found.length > 0) return found;
  throw new TypeError(`No ratio is called ${name}. There are ${existing.join(', ')}`);
}

export function paceOf({ isQuick }: Options): Pace {
  return isQuick ? quickPace : wholePace;
}
