import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { StartedSystem } from '@countersign/local';
import { verifies } from '@countersign/testkit/verifies';
import { readText, root } from '../architecture/repository.ts';
import { scratchDataDir, startIn } from './_system.ts';

const startMs = 120_000;
const dataDir = scratchDataDir();
/** Where the reader stands: the repository, as far as the commands need it. */
const checkout = mkdtempSync(join(tmpdir(), 'countersign-readme-'));
let system: StartedSystem;

beforeAll(async () => {
  symlinkSync(join(root, 'packages'), join(checkout, 'packages'));
  symlinkSync(dataDir.path, join(checkout, '.countersign'));
  system = await startIn(dataDir.path);
}, startMs);
afterAll(async () => {
  await system.stop();
  dataDir.remove();
  rmSync(checkout, { recursive: true, force: true });
});

/** The commands of the README that talk to a running system, in their order. */
function readmeCommands(): string[] {
  const blocks = [...readText('README.md').matchAll(/^ *```sh\n([^`]*?)^ *```/gm)].map(([, commands = '']) => commands);
  return blocks.filter((commands) => !commands.includes('make '));
}

verifies('sys.quickstart', 'the commands of the README do what it says, typed one after the other', async () => {
  const commands = readmeCommands();
  expect(commands).toHaveLength(5);
  // As at a prompt, where aliases are known and what fails is seen.
  const script = ['shopt -s expand_aliases', 'set -e', ...commands.flatMap((block) => [block, 'echo'])].join('\n');
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: checkout });
  const verdicts = [...stdout.matchAll(/^\{"verdict":"(\w+)","allow":(?:true|false),"reason_code":"(\w+)"/gm)];
  expect(verdicts.map(([, verdict, code]) => `${verdict} ${code}`)).toEqual([
    'ALLOW ALLOWED',
    'DENY POLICY_DENIED',
    'ESCALATE APPROVAL_REQUIRED',
  ]);
  expect(stdout).toContain('"state":"pending"');
  expect(stdout).toContain('VERIFIED');
});
