import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { parsePolicyBundle } from '@countersign/policy';
import { adminKey, startTestKernel, type TestKernel } from './_kernel.ts';

const page = readFileSync(new URL('../../../docs/identity.md', import.meta.url), 'utf8');
/** The policy of `make up`, which readers of the page use. */
const shippedPolicy = readFileSync(new URL('../../../infra/local/policy/starter.yaml', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```/gms)].map(([, language = '', text = '']) => ({
  language,
  text,
}));
const blockOf = (language: string, nth = 0) => {
  const block = blocks.filter((candidate) => candidate.language === language)[nth];
  if (block === undefined) throw new Error(`The page has no block ${nth} of ${language}`);
  return block.text;
};

const cwd = mkdtempSync(join(tmpdir(), 'countersign-identity-'));
let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('*', shippedPolicy);
});
afterAll(async () => {
  await test.close();
  rmSync(cwd, { recursive: true, force: true });
});

it('the commands of the page enrol an agent, call with its own token, and revoke it', async () => {
  writeFileSync(join(cwd, 'agent-key.mjs'), blockOf('js'));
  const scripts = [blockOf('sh', 0), 'echo', blockOf('sh', 1), 'echo', blockOf('sh', 2), 'echo', blockOf('sh', 1)];
  writeFileSync(join(cwd, 'typed.sh'), scripts.join('\n'));
  const text = await typed('typed.sh');
  const answers = text.split('\n').filter((line) => line.startsWith('{'));
  expect(answers.length).toBe(4);
  expect(text).toContain('"verdict":"ALLOW"');
  expect(text).toContain('"state":"revoked"');
  expect(answers.at(-1)).toMatch(/CREDENTIALS_INVALID|AGENT_REVOKED/);
});

/** Runs in a child process, because the kernel in this process must answer at the same time. */
function typed(file: string): Promise<string> {
  const env = { ...process.env, KERNEL: test.kernel.url, GOV_ADMIN_API_KEY: adminKey, TENANT: 'acme' };
  return new Promise((resolve, reject) => {
    execFile('bash', ['-e', file], { cwd, env }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${stdout}\n${stderr}`, { cause: error }));
    });
  });
}

it('the policy on the page is valid', () => {
  expect(parsePolicyBundle(blockOf('yaml'))).toMatchObject({ identity: ['proven'] });
});
