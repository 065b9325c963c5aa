import type { Profiler } from 'node:inspector';
import { fileURLToPath } from 'node:url';

type CallFrame = Profiler.Profile['nodes'][number]['callFrame'];

type HeavyFunction = {
  name: string;
  /** File from the root of the repository, with the line. Empty for functions of V8. */
  place: string;
  /** The function's share of the time in which the process was not idle. */
  share: number;
};

export type ProfileSummary = { idleShare: number; heaviest: HeavyFunction[] };

const root = fileURLToPath(new URL('../../..', import.meta.url));
const countTold = 10;

/** The functions in which a process spent the most time, without the time of their callees. */
export function summariseProfile(profile: Profiler.Profile): ProfileSummary {
  const spent = selfTimes(profile);
  const idle = spent.get('(idle) ')?.micros ?? 0;
  spent.delete('(idle) ');
  const functions = [...spent.values()].sort((left, right) => right.micros - left.micros);
  const busy = functions.reduce((sum, { micros }) => sum + micros, 0);
  const heaviest = functions.slice(0, countTold);
  return {
    idleShare: idle / Math.max(1, idle + busy),
    heaviest: heaviest.map(({ name, place, micros }) => ({ name, place, share: micros / Math.max(1, busy) })),
  };
}

type SelfTime = { name: string; place: string; micros: number };

/** Grouped by name and place, since the profile has a separate node for each caller of a function. */
function selfTimes({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Map<string, SelfTime> {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const spent = new Map<string, SelfTime>();
  for (const [index, id] of samples.entries()) {
    const frame = frames.get(id);
    if (frame === undefined || isProfiler(frame)) continue;
    const [name, place] = [frame.functionName || '(anonymous)', placeOf(frame)];
    const before = spent.get(`${name} ${place}`)?.micros ?? 0;
    spent.set(`${name} ${place}`, { name, place, micros: before + (timeDeltas[index] ?? 0) });
  }
  return spent;
}

/** Whether a frame is the profiler itself. Its start and stop take long and are not work of the process. */
function isProfiler({ functionName, url }: CallFrame): boolean {
  return functionName === 'dispatch' && url === '';
}

function placeOf({ url, lineNumber }: CallFrame): string {
  if (url === '') return '';
  const path = url.startsWith('file://') ? fileURLToPath(url) : url;
  return `${shortened(path)}:${lineNumber + 1}`;
}

/**
 * The path of an installed file, from the name of its package. The path of any other file, from the root of the
 * repository.
 */
function shortened(path: string): string {
  const installed = path.lastIndexOf('node_modules/');
  if (installed !== -1) return path.slice(installed + 'node_modules/'.length);
  return path.startsWith(root) ? path.slice(root.length) : path;
}
