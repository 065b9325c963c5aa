import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { readText, root } from '../architecture/repository.ts';
import { freePorts } from './_ports.ts';
import { until } from './_system.ts';
import { freshEnvironment, openTerminal, typeInForeground, type Foreground, type Terminal } from './_terminal.ts';
import { Walk } from './_walk.ts';

const startMs = 120_000;
const stepMs = 60_000;
const cwd = mkdtempSync(join(tmpdir(), 'countersign-two-people-'));
const walk = new Walk('docs/quickstart.md', readText('docs/quickstart.md'));
let first: Foreground;
let second: Terminal;

beforeAll(async () => {
  chmodSync(cwd, 0o711); // PostgreSQL runs under its own account when we are root, and must pass through
  for (const folder of ['packages', 'infra']) symlinkSync(join(root, folder), join(cwd, folder));
  const chosen = await freePorts();
  const place = { cwd, env: { ...freshEnvironment, ...chosen } };
  first = await typeInForeground(walk.blockWith('make up'), place);
  second = openTerminal(place);
  await second.type(walk.blockWith('pick()'));
}, startMs);
afterAll(async () => {
  second.close();
  await first.interrupt();
  rmSync(cwd, { recursive: true, force: true });
}, startMs);

const typed = async (words: string): Promise<string[]> =>
  (await second.type(walk.blockWith(words))).split('\n').filter((line) => line !== '');

/** Types a block again and again, as the page asks for, until the first line that it prints is the wanted one. */
async function repeated(words: string, wanted: string): Promise<string[]> {
  const commands = walk.blockWith(words);
  return await until(async () => {
    const lines = (await second.type(commands).catch(String)).split('\n');
    return lines[0] === wanted && lines.filter((line) => line !== '');
  });
}

describe('two people and an agent, by curl', () => {
  verifies(
    'gw.invite',
    'one signs in and invites, the other proves his address and joins',
    async () => {
      expect(await typed('ada@example.org')).toEqual(['ada@example.org']);
      expect(await typed('inviteToken')).toEqual(['partner']);
    },
    stepMs,
  );

  verifies(
    'gw.approvals',
    'one starts the run and may not approve it, the other approves, and the agent goes on',
    async () => {
      await typed('TASK=');
      await repeated('pick status', 'awaiting_approval');
      expect(await typed('error.message')).toEqual([
        expect.stringMatching(/^Somebody other than the person who started/),
      ]);
      const [shown, status] = await typed('bob -X PUT');
      expect([shown, status]).toEqual([expect.stringContaining('letter.md'), 'approved']);
      expect(await repeated('letter.md', 'completed')).toEqual(['completed', 'Dear customer']);
    },
    stepMs,
  );

  verifies(
    'gw.governance',
    'and what happened is proven offline: each step, the receipts of the run and of the day, the log of the workspace',
    async () => {
      const lines = await typed('steps.map');
      expect(lines).toEqual(['model_call ALLOW', 'tool_call ALLOW', 'model_call ALLOW', 'true']);
      const proven = await typed('run.ndjson');
      expect(proven[0]).toMatch(/^VERIFIED: \d+ receipts/);
      expect(proven).toContainEqual(expect.stringMatching(/^VERIFIED: \d+ entries$/));
      const [verdict = '', ...rest] = await typed('today.ndjson');
      expect(verdict).toMatch(/^VERIFIED: [1-9]\d* receipts/);
      expect(rest).toContainEqual(expect.stringMatching(/^ {2}period {8}wsp_/));
      expect(walk.left).toEqual([]);
    },
    stepMs,
  );
});
