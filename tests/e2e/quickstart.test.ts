import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { readText, root } from '../architecture/repository.ts';

const demoScript = join(root, 'infra/local/dist/main-demo.js');
const timeoutMs = 300_000;

describe('quick start', () => {
  // The demo starts its own system from nothing: without a database and keys, and with the self test of the kernel.
  verifies(
    'sys.quickstart',
    'the demo shows every verdict, proves the chain offline and catches a tampered copy',
    async () => {
      const demo = [...process.execArgv, demoScript];
      const { stdout, stderr } = await promisify(execFile)(process.execPath, demo, { timeout: timeoutMs });
      expect(stderr).toBe('');
      const verdicts = [...stdout.matchAll(/^ +verdict +(\w+) +(.*)$/gm)];
      expect(verdicts.map(([, verdict]) => verdict)).toEqual([
        ...['ALLOW', 'DENY', 'ESCALATE', 'APPROVED', 'ALLOW', 'DENY', 'DENY', 'VERIFIED', 'TAMPER'],
      ]);
      // The changed receipt fails at its signature. A verifier of hashes alone would miss an attacker who also rewrites
      // the hashes.
      expect(verdicts.at(-1)?.[2]).toBe('refused: SIGNATURE_INVALID');
      expect(stdout.match(/rcp_[0-9A-Z]{26}/g)?.length).toBeGreaterThanOrEqual(6);
      expect(stdout).toContain('All steps passed');
    },
  );

  verifies('sys.quickstart', 'the README names one command for the main job and one for the tests', () => {
    const [, commands = ''] = /```sh\n([^`]*)```/.exec(readText('README.md')) ?? [];
    expect(commands.match(/^make \w+/gm)).toEqual(['make demo', 'make test']);
  });
});
