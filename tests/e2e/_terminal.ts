import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { root } from '../architecture/repository.ts';

type Place = { cwd: string; env: Record<string, string> };

/** The environment of a shell on a machine without Countersign. */
export const freshEnvironment = { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' };

export type Terminal = {
  /**
   * Types commands. Resolves with their output when the prompt is back. Rejects with the output if a command failed.
   */
  type(commands: string): Promise<string>;
  close(): void;
};

/** An interactive shell: it expands aliases, and detects failed commands. */
export function openTerminal(place: Place): Terminal {
  const shell = spawn('bash', ['--noprofile', '--norc'], { ...place, stdio: ['pipe', 'pipe', 'pipe'] });
  const { printed } = outputOf(shell);
  const failed = `failed-${randomUUID()}`;
  shell.stdin.write(`exec 2>&1; shopt -s expand_aliases; set -o pipefail; trap 'echo ${failed}' ERR\n`);
  return {
    type: async (commands) => {
      const before = printed().length;
      const prompt = `prompt-${randomUUID()}`;
      shell.stdin.write(`${commands}\necho\necho ${prompt}\n`);
      while (!printed().includes(prompt, before)) {
        if (shell.exitCode !== null) throw new Error(`The shell ended:\n${printed().slice(before)}`);
        await Promise.race([once(shell.stdout, 'data'), once(shell, 'close')]);
      }
      const text = printed().slice(before).replace(prompt, '').trim();
      if (text.includes(failed)) throw new Error(`A command failed:\n${commands}\n${text.replaceAll(failed, '')}`);
      return text;
    },
    close: () => shell.kill(),
  };
}

export type Foreground = {
  /** All output so far. */
  printed(): string;
  /** Presses Ctrl-C. Resolves with the exit code. */
  interrupt(): Promise<number | null>;
};

/** The last command of `make up` in the Makefile, after everything is built. */
const makeUp = `make() { exec node $(node ${join(root, 'tests/runner/node-flags.mjs')}) ${join(root, 'infra/local/dist/main-up.js')}; }`;

/** Types a line with `make up` and waits until the system is ready. */
export async function typeInForeground(line: string, place: Place): Promise<Foreground> {
  const child = spawn('bash', ['-c', `${makeUp}\n${line}`], { ...place, stdio: ['ignore', 'pipe', 'pipe'] });
  const { printed } = outputOf(child);
  while (!printed().includes('countersign ready')) {
    if (child.exitCode !== null) throw new Error(`It did not start:\n${printed()}`);
    await Promise.race([once(child.stdout, 'data'), once(child, 'close')]);
  }
  return {
    printed,
    interrupt: async () => {
      if (child.exitCode !== null) return child.exitCode;
      child.kill('SIGINT');
      await once(child, 'close');
      return child.exitCode;
    },
  };
}

function outputOf({ stdout, stderr }: ChildProcess): { printed(): string } {
  let text = '';
  for (const stream of [stdout, stderr]) stream?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  return { printed: () => text };
}
