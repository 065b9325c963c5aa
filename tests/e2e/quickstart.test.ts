import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { readText, root } from '../architecture/repository.ts';

const demoScript = join(root, 'infra/local/dist/main-demo.js');
const timeoutMs = 120_000;

type Ran = { failure: string | null; stdout: string; stderr: string };

function runDemo(...args: string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const options = { timeout: timeoutMs };
    execFile(process.execPath, [...process.execArgv, demoScript, ...args], options, (error, stdout, stderr) => {
      resolve({ failure: error?.message ?? null, stdout, stderr });
    });
  });
}

describe('quick start', () => {
  verifies(
    'sys.quickstart',
    'the demo shows every verdict, proves the chain offline and catches a tampered copy',
    async () => {
      const { failure, stdout, stderr } = await runDemo();
      expect({ failure, stderr }).toEqual({ failure: null, stderr: '' });
      for (const word of ['ALLOW', 'DENY', 'ESCALATE', 'VERIFIED', 'TAMPER']) expect(stdout).toContain(word);
      expect(stdout.match(/rcp_[0-9A-Z]{26}/g)?.length).toBeGreaterThanOrEqual(6);
    },
    timeoutMs,
  );

  verifies(
    'sys.quickstart',
    'the demo tells a machine what it showed',
    async () => {
      const { stdout } = await runDemo('--json');
      const report = JSON.parse(stdout) as {
        ok: boolean;
        seconds: number;
        steps: { verdict: string; reason_code: string }[];
      };
      expect(report).toMatchObject({ ok: true, failure: null });
      expect(report.seconds).toBeLessThan(60);
      expect(report.steps.map(({ verdict }) => verdict)).toEqual([
        'ALLOW',
        'DENY',
        'ESCALATE',
        'APPROVED',
        'ALLOW',
        'DENY',
        'DENY',
        'VERIFIED',
        'TAMPER',
      ]);
      // By the signature: a verifier that looked at hashes alone would be fooled by whoever rewrites them too.
      expect(report.steps.at(-1)?.reason_code).toBe('refused: SIGNATURE_INVALID');
    },
    timeoutMs,
  );

  verifies('sys.quickstart', 'the README names one command for the main job and one for the tests', () => {
    const [, commands = ''] = /```sh\n([^`]*)```/.exec(readText('README.md')) ?? [];
    expect(commands.match(/^make \w+/gm)).toEqual(['make demo', 'make test']);
  });
});
