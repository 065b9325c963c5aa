import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from '@jest/globals';
import { describeStory } from '@countersign/testkit/describe-story';
import { verifies } from '@countersign/testkit/verifies';
import { readText, root } from '../architecture/repository.ts';
import { freshEnvironment, openTerminal, type Terminal } from './_terminal.ts';
import { Walk } from './_walk.ts';

const page = 'docs/how-to/local-boundary.md';
let walk: Walk;
let terminal: Terminal;
let serving: ChildProcess | null = null;
let dir: string;
let place: { cwd: string; env: Record<string, string> };

/** The lines that the commands of a block print. */
const typed = async (words: string) =>
  (await terminal.type(walk.blockWith(words))).split('\n').filter((line) => line !== '');

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-local-'));
  const cli = join(root, 'packages/cli/dist/main.js');
  const text = readText(page).replaceAll('packages/cli/dist/main.js', cli);
  const port = await freePort();
  walk = new Walk(
    page,
    text.replaceAll('127.0.0.1:7714', `127.0.0.1:${port}`).replace('serve --policy', `serve --port ${port} --policy`),
  );
  place = { cwd: dir, env: freshEnvironment };
  terminal = openTerminal(place);
  await typed('countersign()');
});

afterAll(() => {
  terminal.close();
  serving?.kill('SIGKILL');
  rmSync(dir, { recursive: true });
});

describeStory('the page on the local boundary, executed block by block', () => {
  verifies('kn.registry.file', 'records and approvals survive separate invocations', async () => {
    expect(await typed('local-policy.yaml <<')).toEqual(['activate']);
    const [verdict, , record] = await typed('boundary records');
    expect(verdict).toBe('ALLOW');
    expect(record).toContain('ALLOWED');
    const [, pending, state, used] = await typed('boundary approve');
    expect(pending).toContain('pending');
    expect([state, used]).toEqual(['approved', 'ALLOW']);
  });

  verifies('kn.registry.file', 'a budget counts across invocations', async () => {
    const [version, first, second, , budget] = await typed('set-budget');
    expect([version, first, second]).toEqual(['1', 'ALLOW', 'BUDGET_EXCEEDED']);
    expect(budget).toContain('1 of 1');
  });

  verifies(
    'kn.registry.file',
    'checkpoints, exports and envelopes survive separate invocations and verify offline',
    async () => {
      const [size, problems, report] = await typed('boundary checkpoint');
      expect(Number(size)).toBeGreaterThan(5);
      expect(problems).toBe('0');
      expect(report).toMatch(/^VERIFIED: 6 receipts/);
      const [form, , envelope] = await typed('boundary envelopes');
      expect(form).toBe('dsse');
      expect(envelope).toMatch(/^env_.* dsse +sha256:/);
    },
  );

  verifies('kn.serve', 'serves the same file, and another server continues it after a kill', async () => {
    const line = walk.blockWith(' serve ');
    serving = await startServing(line);
    const [verdict, count, , approval] = await typed('BOUNDARY=');
    expect([verdict, count]).toEqual(['ESCALATE', '1']);
    expect(approval).toContain('pending');
    serving.kill('SIGKILL');
    await once(serving, 'close');
    serving = await startServing(line);
    expect(await terminal.type('ask "$BOUNDARY/api/v1/approvals?session_id=served" | pick data.length')).toBe('1');
    expect(await terminal.type('ask $BOUNDARY/health/ready | pick status')).toBe('ready');
    expect(walk.left).toEqual([]);
  });
});

async function startServing(line: string): Promise<ChildProcess> {
  const child = spawn('bash', ['-c', `exec ${line}`], { ...place, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (printed += String(data)));
  while (!printed.includes('listens on')) {
    if (child.exitCode !== null) throw new Error(`It did not start:\n${printed}`);
    await Promise.race([once(child.stderr, 'data'), once(child, 'close')]);
  }
  return child;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('A TCP server has a port');
  return address.port;
}
