import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { clearStaleServer, describeProcess } from '../src/running-server.ts';

const ownPlatform = process.platform;
let dataDir: string;
let stranger: ChildProcess;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'countersign-running-'));
  stranger = spawn('sleep', ['60'], { stdio: 'ignore' });
  await once(stranger, 'spawn');
});
afterEach(() => {
  Object.defineProperty(process, 'platform', { value: ownPlatform });
  stranger.kill();
  rmSync(dataDir, { recursive: true });
});

// The code reads /proc on Linux, and runs ps on other systems. Linux has both, so both ways are tested on it.
describe.each(['linux', 'darwin'])('on %s', (platform) => {
  beforeEach(() => void Object.defineProperty(process, 'platform', { value: platform }));

  it('a pid file with the number of another process is removed, and that process is not stopped', async () => {
    const pidFile = join(dataDir, 'postmaster.pid');
    writeFileSync(pidFile, `${stranger.pid}\n${dataDir}\n0\n5432\n`);
    await clearStaleServer({ dataDir, ownerFile: join(dataDir, 'owner') } as never, () => undefined); // the members that the function reads
    expect(existsSync(pidFile)).toBe(false);
    expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null]);
  });

  it('the description of a process has more than its pid, and is stable', () => {
    const described = describeProcess(stranger.pid ?? 0);
    expect(described).toMatch(new RegExp(`^${stranger.pid} .*\\d`));
    expect(describeProcess(stranger.pid ?? 0)).toBe(described);
  });
});
