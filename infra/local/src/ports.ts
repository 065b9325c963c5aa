import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { LocalProblem } from './local-problem.ts';

const host = '127.0.0.1';
const triesMax = 100;

/** Ports that this process gave out or was configured to open. They are reserved until they are opened. */
const spokenFor = new Set<number>();

/**
 * A free port that this process gives out once. It lies below those that a system gives out by itself (from 32768 on,
 * on Linux): one of these may be taken before the caller opens it.
 */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < triesMax; tried += 1) {
    const port = randomInt(10_000, 30_000);
    if (spokenFor.has(port)) continue;
    spokenFor.add(port);
    if (await isUsable(port)) return port;
  }
  throw new Error(`None of ${triesMax} ports is free`);
}

type Wanted = { variable: string; port: number };

/** Throws LocalProblem with one command that goes past all ports that are taken. `given` are the variables of this start. */
export async function assertPortsFree(
  wanted: readonly Wanted[],
  given: Readonly<Record<string, string>>,
): Promise<void> {
  for (const { port } of wanted) spokenFor.add(port);
  const taken: Wanted[] = [];
  for (const each of wanted) if (!(await isUsable(each.port))) taken.push(each);
  if (taken.length === 0) return;
  const numbers = taken.map(({ port }) => port).join(', ');
  const used = new Set(wanted.map(({ port }) => port));
  const chosen: Record<string, string> = {};
  for (const { variable, port } of taken) chosen[variable] = String(await anotherPort(port, used));
  const variables = Object.entries({ ...given, ...chosen }).map(([name, value]) => `${name}=${quoted(value)}`);
  const next = `${variables.join(' ')} make up`;
  if (taken.length === 1)
    throw new LocalProblem(
      `Port ${numbers} is taken, or this user may not open it.`,
      `Stop what uses it, or choose another one: ${next}`,
    );
  throw new LocalProblem(
    `Ports ${numbers} are taken, or this user may not open them.`,
    `Stop what uses them, or choose others: ${next}`,
  );
}

/** Known at sight to be the neighbour of the one that is taken. */
const stepToAnother = 1_000;
const portMax = 65_535;

async function anotherPort(taken: number, used: Set<number>): Promise<number> {
  for (let port = taken + stepToAnother; port <= portMax; port += stepToAnother) {
    if (used.has(port) || !(await isUsable(port))) continue;
    used.add(port);
    return port;
  }
  return freePort();
}

/** 0 is any port that is free. */
function isUsable(port: number): Promise<boolean> {
  if (port === 0) return Promise.resolve(true);
  return listenOnce(port).then(
    () => true,
    () => false,
  );
}

/** The value as a shell reads it. */
function quoted(value: string): string {
  return /^[\w./:@-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
}

function listenOnce(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(port, host, () => probe.close(() => resolve()));
  });
}
