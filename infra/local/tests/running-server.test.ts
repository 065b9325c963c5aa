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

// Linux tells of processes under /proc, every other system by ps; Linux has both.
describe.each(['linux', 'darwin'])('on %s', (platform) => {
  beforeEach(() => void Object.defineProperty(process, 'platform', { value: platform }));

  it('a pid file whose number belongs to a stranger by now is removed, and the stranger left alone', async () => {
    const pidFile = join(dataDir, 'postmaster.pid');
    writeFileSync(pidFile, `${stranger.pid}\n${dataDir}\n0\n5432\n`);
    await clearStaleServer({ dataDir, ownerFile: join(dataDir, 'owner') } as never, () => undefined); // as far as it is looked at
    expect(existsSync(pidFile)).toBe(false);
    expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null]);
  });

  it('a process is described by more than its number, and the same each time', () => {
    const described = describeProcess(stranger.pid ?? 0);
    expect(described).toMatch(new RegExp(`^${stranger.pid} .*\\d`));
    expect(describeProcess(stranger.pid ?? 0)).toBe(described);
  });
});
