import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SignedLog } from './_signed-log.ts';

const program = fileURLToPath(new URL('_witness-process.mjs', import.meta.url));
const log = new SignedLog();
let folder: string;
let running: ChildProcess | null = null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-witness-'));
});
afterEach(async () => {
  await kill();
  rmSync(folder, { recursive: true });
});

async function start(dieAt = ''): Promise<string> {
  const child = spawn(process.execPath, [program, folder, log.vkey], {
    env: { ...process.env, DIE_AT: dieAt },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running = child;
  const [line] = (await once(child.stdout, 'data')) as [Buffer]; // a pipe without an encoding
  return String(line).trim();
}

async function kill(): Promise<void> {
  if (running === null || running.exitCode !== null || running.signalCode !== null) return;
  running.kill('SIGKILL');
  await once(running, 'close');
}

/** The HTTP status, or 0 when the connection was lost. */
async function submit(url: string, body: string): Promise<number> {
  try {
    const answer = await fetch(`${url}/add-checkpoint`, { method: 'POST', body });
    await answer.text();
    return answer.status;
  } catch {
    return 0;
  }
}

describe('a witness that is killed between a submission and its answer', () => {
  const forgets = ['judged', 'created', 'written', 'synced'];
  const remembers = ['renamed', 'folder_synced', 'cosigned'];

  it.each([...forgets, ...remembers])('cosigns only one of two trees of one size: %s', async (step) => {
    let url = await start();
    expect(await submit(url, log.submission(0, 2))).toBe(200);
    await kill();
    url = await start(step);
    expect(await submit(url, log.submission(2, 5, 'a'))).toBe(0);
    expect(running?.signalCode ?? (await once(running as ChildProcess, 'close'))[1]).toBe('SIGKILL'); // it was started
    url = await start();
    const isRemembered = remembers.includes(step);
    // The fork is submitted first. Only the state that survived the kill can then prevent its cosignature.
    expect(await submit(url, log.submission(2, 5, 'b'))).toBe(isRemembered ? 409 : 200);
    expect(await submit(url, log.submission(5, 5, 'b'))).toBe(isRemembered ? 422 : 200);
    expect(await submit(url, log.submission(2, 5, 'a'))).toBe(409);
    expect(await submit(url, log.submission(5, 5, 'a'))).toBe(isRemembered ? 200 : 422);
  });

  it('continues with its state after a kill without a submission', async () => {
    for (const [old, size] of [
      [0, 1],
      [1, 4],
      [4, 9],
    ] as const) {
      expect(await submit(await start(), log.submission(old, size))).toBe(200);
      await kill();
    }
  });
});
