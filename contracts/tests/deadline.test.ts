import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { startDeadline } from '../src/deadline.ts';

const built = fileURLToPath(new URL('../dist/deadline.js', import.meta.url));
const run = promisify(execFile);

/** Joins a deadline with a signal, drops both references, collects garbage until it fires, and prints its reason. */
const forgetful = (start: string) => `
  const { startDeadline } = await import(${JSON.stringify(built)});
  const parent = new AbortController();
  const fired = new Promise((resolve) => {
    (() => { ${start}.addEventListener('abort', ({ target }) => resolve(target.reason.name), { once: true }); })();
  });
  const collecting = setInterval(() => globalThis.gc(), 5);
  const giveUp = setTimeout(() => { console.log('never'); process.exit(); }, 2_000);
  console.log(await fired);
  clearInterval(collecting);
  clearTimeout(giveUp);
  parent.abort();
`;

async function outcomeOf(start: string): Promise<string> {
  const args = ['--expose-gc', '--input-type=module', '--eval', forgetful(start)];
  return (await run(process.execPath, args)).stdout.trim();
}

describe('a deadline', () => {
  it('fires although garbage collection ran and no reference to it remained', async () => {
    expect(await outcomeOf('startDeadline({ ms: 200, signal: parent.signal }).signal')).toBe('TimeoutError');
  });

  it('aborts with the reason of its parent, before and after its start, and is then not over', async () => {
    const parent = new AbortController();
    const { signal, isOver } = startDeadline({ ms: 60_000, signal: parent.signal });
    const aborted = once(signal, 'abort');
    parent.abort('stopped');
    await aborted;
    expect([signal.reason, isOver()]).toEqual(['stopped', false]);
    expect(startDeadline({ ms: 60_000, signal: parent.signal }).signal.reason).toBe('stopped');
  });

  it('is over after its time, with a TimeoutError', async () => {
    const { signal, isOver } = startDeadline({ ms: 1 });
    await once(signal, 'abort');
    expect([(signal.reason as Error).name, isOver()]).toEqual(['TimeoutError', true]);
  });

  it('does nothing after it was cleared', () => {
    const parent = new AbortController();
    const { signal, clear } = startDeadline({ ms: 60_000, signal: parent.signal });
    clear();
    parent.abort();
    expect(signal.aborted).toBe(false);
  });
});
