import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { readText, root } from '../architecture/repository.ts';

/** The command in CONTRIBUTING.md that runs one suite. */
function oneSuite(): string {
  const [, command] = /`(node tests\/runner\/run-tests\.mjs [^`]+)`/.exec(readText('CONTRIBUTING.md')) ?? [];
  if (command === undefined) throw new Error('CONTRIBUTING.md says no command for one suite');
  return command;
}

describe('CONTRIBUTING', () => {
  it('has a command that runs one suite and no other', async () => {
    const { stdout, stderr } = await promisify(execFile)('bash', ['-c', oneSuite()], { cwd: root });
    const suites = [...stderr.matchAll(/^PASS (\S+)/gm)].map(([, path]) => path);
    expect(suites).toEqual(['packages/crypto/tests/digest-and-encoding.test.ts']);
    expect(stdout).toMatch(/^[1-9][0-9]* passed, 0 failed$/m);
  });
});
