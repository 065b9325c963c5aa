import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { startSystem, type StartedSystem } from '@countersign/local';
import { verifies } from '@countersign/testkit/verifies';
import { readText, root } from '../architecture/repository.ts';

const startMs = 120_000;
const scratch = mkdtempSync(join(tmpdir(), 'countersign-readme-'));
let system: StartedSystem;

beforeAll(async () => {
  mkdirSync(join(scratch, '.countersign'));
  symlinkSync(join(root, 'packages'), join(scratch, 'packages'));
  system = await startSystem({ dataDir: join(scratch, '.countersign') });
}, startMs);
afterAll(async () => {
  await system.stop();
  rmSync(scratch, { recursive: true, force: true });
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
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: scratch });
  const verdicts = [...stdout.matchAll(/^\{"verdict":"(\w+)","allow":(?:true|false),"reason_code":"(\w+)"/gm)];
  expect(verdicts.map(([, verdict, code]) => `${verdict} ${code}`)).toEqual([
    'ALLOW ALLOWED',
    'DENY POLICY_DENIED',
    'ESCALATE APPROVAL_REQUIRED',
  ]);
  expect(stdout).toContain('"state":"pending"');
  expect(stdout).toContain('VERIFIED');
});
