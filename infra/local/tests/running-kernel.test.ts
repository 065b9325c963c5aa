import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { holdDataDir } from '../src/hold-data-dir.ts';
import { runningKernel } from '../src/running-kernel.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'countersign-running-'));
afterAll(() => rmSync(dataDir, { recursive: true }));

it('the running kernel of a data directory is found with its operator key, until the system ends', () => {
  const notRunning = /^Countersign does not run on .*make up, or name a kernel/;
  expect(() => runningKernel(dataDir)).toThrow(notRunning);
  const { release } = holdDataDir(dataDir);
  expect(() => runningKernel(dataDir)).toThrow(notRunning);
  writeFileSync(
    join(dataDir, 'local.env'),
    'KERNEL_URL=http://127.0.0.1:8080\nAGENT_KEY=agt\nGOV_ADMIN_API_KEY=adm_x=\n',
  );
  expect(runningKernel(dataDir)).toEqual({ url: 'http://127.0.0.1:8080', apiKey: 'adm_x=' });
  release();
  expect(() => runningKernel(dataDir)).toThrow(notRunning);
});
