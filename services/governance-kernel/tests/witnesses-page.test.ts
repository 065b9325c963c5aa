import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeStory } from '@countersign/testkit/describe-story';
import { untilAnswered } from '@countersign/testkit/until';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { seal } from './_seal.ts';
import { readTlogProof } from './_tlog-reader.ts';
import { openWorkspaceDoor } from './_workspace-door.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const page = readFileSync(join(root, 'docs/witnesses.md'), 'utf8');
const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
const execute = promisify(execFile);

let dir: string;
let test: TestKernel;
let door: Awaited<ReturnType<typeof openWorkspaceDoor>>;
let serving: ChildProcess | null = null;
let witnessKey = '';
let receiptId = '';

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-witnesses-'));
  test = await startTestKernel({ twins: false });
  await test.activate('*', starterPolicy);
  door = await openWorkspaceDoor(() => test.kernel.url, 'acme');
  await seal(test);
});
afterAll(async () => {
  serving?.kill('SIGTERM');
  await door.close();
  await test.close();
  rmSync(dir, { recursive: true });
});

const environment = () => ({
  ...{
    PATH: process.env['PATH'] ?? '',
    HOME: dir,
    COUNTERSIGN_URL: door.url,
    COUNTERSIGN_TOKEN: 'a-token-of-this-test',
  },
  ...{ WITNESS_KEY: witnessKey, RECEIPT_ID: receiptId },
});
const adapted = (block: string) =>
  block
    .replaceAll('packages/cli/dist/main.js', join(root, 'packages/cli/dist/main.js'))
    .replaceAll('http://127.0.0.1:8080', test.kernel.url)
    .replace('--port 7715', '--port 0');

/** Runs a block in a shell that has the functions of the first block. Resolves to the output of the block. */
async function typed(words: string): Promise<string> {
  const [first = '', ...others] = blocks;
  const block = [first, ...others].find((each) => each.includes(words)) ?? '';
  const script = block === first ? first : `${first.replace(/^log_key$/m, '')}${block}`;
  const ran = await execute('bash', ['-ec', adapted(script)], { cwd: dir, env: environment() });
  return ran.stdout;
}

async function startServing(): Promise<{ url: string; vkey: string }> {
  const [first = '', second = ''] = blocks;
  const script = adapted(
    `${first.replace(/^log_key$/m, '')}${second.replace('countersign witness', 'exec node packages/cli/dist/main.js witness')}`,
  );
  const child = spawn('bash', ['-ec', script], { cwd: dir, env: environment(), stdio: ['ignore', 'pipe', 'pipe'] });
  serving = child;
  let printed = '';
  child.stderr.on('data', (data) => (printed += String(data)));
  const [line] = (await Promise.race([once(child.stdout, 'data'), once(child, 'close').then(() => [printed])])) as [
    Buffer | string,
  ];
  return { url: /listens on (\S+)/.exec(printed)?.[1] ?? printed, vkey: String(line).trim() };
}

describeStory('the page on witnesses, typed block by block', () => {
  it('runs a witness of the log', async () => {
    expect(await typed('log_key()')).toMatch(/^\S+\+[0-9a-f]{8}\+\S+\n$/);
    const { url, vkey } = await startServing();
    expect(vkey).toMatch(/^witness\.example\.org\/w1\+/);
    witnessKey = vkey;
    Object.assign(test.env, { GOV_WITNESS_URL: url, GOV_WITNESS_KEY: vkey });
    await test.restart();
  });

  it('requires a witness in a verification', async () => {
    receiptId = (await seal(test)).receipt_id;
    await typed('witnesses.policy <<');
    const words = 'countersign verify pack.jsonl';
    await untilAnswered(async () => {
      rmSync(join(dir, 'pack.jsonl'), { force: true });
      return await typed(words).then(
        (printed) => printed.startsWith('VERIFIED') && printed.includes('WITNESSED'),
        (error: { code: number }) => {
          if (error.code === 3) return false; // the checkpoint is not cosigned yet
          throw error as unknown as Error;
        },
      );
    });
  });

  it('exports one receipt as a proof that readers of other projects accept', async () => {
    await typed('evidence proof');
    const text = readFileSync(join(dir, 'receipt.tlog-proof'), 'utf8');
    const keys = JSON.parse(readFileSync(join(dir, 'keys.json'), 'utf8')) as { log_vkey: string }; // the kernel's own answer
    const named = { logVkey: keys.log_vkey, witnessVkey: witnessKey };
    const read = readTlogProof(text, named);
    expect(JSON.parse(read.receipt)).toMatchObject({ payload: { receipt_id: receiptId, verdict: 'ALLOW' } });
    expect(read.size).toBeGreaterThan(read.index);
    expect(read.witnessedAt).toBeInstanceOf(Date);
    const changes: [string, string][] = [
      ['index ', 'index 1'],
      ['extra ', 'extra AAAA'],
      [`— ${named.witnessVkey.split('+')[0]} `, `— ${named.witnessVkey.split('+')[0]} A`],
    ];
    for (const [from, to] of changes) expect(() => readTlogProof(text.replace(from, to), named)).toThrow();
    await expect(typed('evidence proof')).rejects.toMatchObject({
      stderr: expect.stringContaining('exists. Name a new file'),
    });
  });
});
