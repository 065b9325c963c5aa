import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { LocalProblem } from './local-problem.ts';

const host = '127.0.0.1';
const triesMax = 100;

/** Ports that this process allocated, or will open by its configuration. They stay reserved until they are opened. */
const spokenFor = new Set<number>();

/** Ports from 1024 on that browsers and `fetch` refuse to open (WHATWG Fetch, section "Port blocking"). */
const blockedPorts: ReadonlySet<number> = new Set([
  ...[1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566],
  ...[6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
]);

/**
 * Returns a free port, and never the same port twice. It is below the ephemeral ports of the system (from 32768, on
 * Linux), because another program could get one of those before the caller opens it.
 */
export async function freePort(draw = () => randomInt(10_000, 30_000)): Promise<number> {
  for (let tried = 0; tried < triesMax; tried += 1) {
    const port = draw();
    if (spokenFor.has(port) || blockedPorts.has(port)) continue;
    spokenFor.add(port);
    if (await isUsable(port)) return port;
  }
  throw new Error(`None of ${triesMax} tried ports is free. Stop a program that uses one`);
}

type Wanted = { variable: string; port: number };

/**
 * Throws LocalProblem if any of the ports is taken. The error has one command that avoids all taken ports. `input`
 * contains the variables of this start.
 */
export async function assertPortsFree(
  wanted: readonly Wanted[],
  input: Readonly<Record<string, string>>,
): Promise<void> {
  for (const { port } of wanted) spokenFor.add(port);
  const taken: Wanted[] = [];
  for (const each of wanted) if (!(await isUsable(each.port))) taken.push(each);
  if (taken.length === 0) return;
  const numbers = taken.map(({ port }) => port).join(', ');
  const used = new Set(wanted.map(({ port }) => port));
  const chosen: Record<string, string> = {};
  for (const { variable, port } of taken) chosen[variable] = String(await anotherPort(port, used));
  const variables = Object.entries({ ...input, ...chosen }).map(([name, value]) => `${name}=${quoted(value)}`);
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

/** The suggested port ends with the same digits as the taken one. */
const stepToAnother = 1_000;
const portMax = 65_535;

async function anotherPort(taken: number, used: Set<number>): Promise<number> {
  for (let port = taken + stepToAnother; port <= portMax; port += stepToAnother) {
    if (used.has(port) || blockedPorts.has(port) || !(await isUsable(port))) continue;
    used.add(port);
    return port;
  }
  return freePort();
}

/** True for 0, which means any free port. */
function isUsable(port: number): Promise<boolean> {
  if (port === 0) return Promise.resolve(true);
  return listenOnce(port).then(
    () => true,
    () => false,
  );
}

/** The value in shell syntax. */
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
