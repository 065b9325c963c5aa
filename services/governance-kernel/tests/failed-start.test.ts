import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestKernel, type TestKernel } from './_kernel.ts';

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
let test: TestKernel;
let occupant: Server;

beforeAll(async () => {
  test = await startTestKernel();
  occupant = createServer().listen(0, '127.0.0.1');
  await once(occupant, 'listening');
});
afterAll(async () => {
  occupant.close();
  await test.close();
});

/** Starts a kernel process that is expected to end. Resolves to its exit code and the problem that it logged. */
async function failedStart(change: Record<string, string>): Promise<{ code: number; problem: unknown }> {
  const child = spawn(process.execPath, [...process.execArgv, main], {
    env: { PATH: process.env['PATH'], ...test.env, GOV_LOG_LEVEL: 'info', ...change },
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const [code] = (await once(child, 'close')) as [number];
  const line = text.split('\n').find((text) => text.includes('service.start_failed')) ?? '{}';
  return { code, problem: (JSON.parse(line) as { problem?: unknown }).problem };
}

/** Simulates a machine whose clock is ten minutes ahead. */
const clockAhead = encodeURIComponent(`
  const RightDate = Date;
  globalThis.Date = class extends RightDate {
    constructor(...at) { super(...(at.length === 0 ? [RightDate.now() + 600_000] : at)); }
    static now() { return RightDate.now() + 600_000; }
  };`);

it.each<[string, () => Record<string, string>, RegExp]>([
  ['a malformed list of MCP servers', () => ({ GOV_MCP_SERVERS: '{"servers":[{}]}' }), /^GOV_MCP_SERVERS is malformed/],
  [
    'a missing policy file',
    () => ({ GOV_POLICY_FILE: '/no/policy.yaml' }),
    /^The policy file \/no\/policy.yaml cannot be used: .*ENOENT/,
  ],
  [
    'a database that does not answer',
    () => ({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }),
    /^The database of DATABASE_URL does not answer: .*ECONNREFUSED/,
  ],
  [
    'a clock far from the clock of the database',
    () => ({ NODE_OPTIONS: `--import=data:text/javascript,${clockAhead}` }),
    /^The clock of this kernel is \d+ s ahead of the database's, so nothing is sealed/,
  ],
  ['a port in use', () => ({ GOV_PORT: String((occupant.address() as AddressInfo).port) }), /EADDRINUSE/],
])('%s ends the process with one sentence and exit code 2', async (_what, change, sentence) => {
  const { code, problem } = await failedStart(change());
  expect(problem).toMatch(sentence);
  expect(code).toBe(2);
});
