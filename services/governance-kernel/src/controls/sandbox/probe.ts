import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { ProbeResult } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import type { Launch } from './bubblewrap.ts';

export type Attempt = ProbeResult['attempt'];

/**
 * Attempts the actions of a hostile program: to read another file, to see processes of the host, to reach the host's
 * network, to start a program.
 */
const script = `
const { readFileSync, existsSync } = require('node:fs');
const [file, pid, port] = process.argv.slice(-3);
const tried = (act) => { try { return act() === true; } catch { return false; } };
const found = {
  read_outside: tried(() => readFileSync(file, 'utf8') === 'outside'),
  see_processes: tried(() => existsSync('/proc/' + pid)),
  start_process: tried(() => require('node:child_process').spawnSync(process.execPath, ['--version']).status === 0),
};
const socket = require('node:net').connect(Number(port), '127.0.0.1');
const end = (opened) => { socket.destroy(); process.stdout.write(JSON.stringify({ ...found, open_network: opened })); };
socket.once('connect', () => end(true));
socket.once('error', () => end(false));
`;

const Found = z.strictObject({
  read_outside: z.boolean(),
  see_processes: z.boolean(),
  start_process: z.boolean(),
  open_network: z.boolean(),
});
type Found = z.infer<typeof Found>;

/** The time limit of a probe. A cold start takes 0.2 s on an idle machine, but much longer under load. */
const probeMsMax = 20_000;

type Probing = {
  scratchDir: string;
  /** Runs a script of Node without the sandbox, as the account of sandboxed programs. */
  outside(launch: Launch): Launch;
  inside(launch: Launch): Launch;
  /** The attempts that the profile must block. */
  contains: readonly Attempt[];
};

export type Probed = { holds: boolean; problem: string | null; results: ProbeResult[] };

/**
 * Runs one script outside and inside a sandbox. The profile works if every attempt that it must block succeeded
 * outside and failed inside. An attempt that fails on both sides shows nothing.
 */
export async function probeProfile({ scratchDir, outside, inside, contains }: Probing): Promise<Probed> {
  const folder = join(scratchDir, `probe-${randomUUID()}`);
  const server = createServer((socket) => socket.destroy());
  try {
    await mkdir(folder, { recursive: true, mode: 0o711 });
    await chmod(folder, 0o711);
    const file = join(folder, 'outside');
    const program = join(folder, 'probe.cjs');
    await Promise.all([writeFile(file, 'outside', { mode: 0o644 }), writeFile(program, script, { mode: 0o644 })]);
    const port = await new Promise<number>((resolve, reject) => {
      server.once('error', reject).listen(0, '127.0.0.1', () => {
        const address = server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
    const launch = { command: process.execPath, args: [program, file, String(process.pid), String(port)] };
    const [control, contained] = await Promise.all([run(outside(launch)), run(inside(launch))]);
    return judged({ control, contained, contains });
  } catch (error) {
    return { holds: false, problem: error instanceof Error ? error.message : String(error), results: [] };
  } finally {
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

type Outcome = { found: Found | null; text: string };

function judged({
  control,
  contained,
  contains,
}: {
  control: Outcome;
  contained: Outcome;
  contains: readonly Attempt[];
}): Probed {
  const results = Found.keyof().options.map((attempt) => {
    const [inside, outside] = [outcomeOf(contained, attempt), outcomeOf(control, attempt)];
    return { attempt, inside, outside, contained: inside === 'failed' && outside === 'succeeded' };
  });
  const open = results.filter(({ attempt, contained: isContained }) => contains.includes(attempt) && !isContained);
  const ended = contained.found === null ? `The probe ended without a result in the sandbox: ${contained.text}` : null;
  const uncontained = open.map(({ attempt }) => attempt.replace('_', ' ')).join(', ');
  return {
    holds: open.length === 0,
    problem:
      open.length === 0
        ? null
        : (ended ?? `The probe does not show that the sandbox blocks these attempts: ${uncontained}`),
    results,
  };
}

function outcomeOf({ found }: Outcome, attempt: Attempt): ProbeResult['inside'] {
  if (found === null) return 'unknown';
  return found[attempt] ? 'succeeded' : 'failed';
}

async function run({ command, args }: Launch): Promise<Outcome> {
  const child = spawn(command, args, {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    timeout: probeMsMax,
    killSignal: 'SIGKILL',
  });
  let out = '';
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => void (out = `${out}${chunk.toString('utf8')}`.slice(0, 4_096)));
  child.stderr.on('data', (chunk: Buffer) => void (text = `${text}${chunk.toString('utf8')}`.slice(0, 300)));
  await new Promise<void>((resolve) => {
    child.once('error', (error) => {
      text ||= error.message;
      resolve();
    });
    child.once('close', () => resolve());
  });
  try {
    return { found: Found.parse(JSON.parse(out)), text };
  } catch {
    return { found: null, text: text.trim() || 'it wrote no output' };
  }
}
