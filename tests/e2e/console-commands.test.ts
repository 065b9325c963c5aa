import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StartedSystem } from '@countersign/local';
import type { Browser } from 'playwright-core';
import { root } from '../architecture/repository.ts';
import { openChromium, openVisitor, signInByKeyboard, type Visitor } from './_console.ts';
import { kernelClient, scratchDataDir, signIn, startIn, until, type SignedIn } from './_system.ts';
import { Tab } from './_tab.ts';

const dataDir = scratchDataDir();
const timeoutMs = 240_000;
const email = 'founder@example.com';
/** More than one page of a list. */
const callsMade = 60;
/** A principal that a shell would take apart, if it were not quoted. */
const quoted = `it's $(touch pwned) "x"`;
const hidden = 'bot\u202e';
let system: StartedSystem;
let browser: Browser;
let visitor: Visitor;
let ada: SignedIn;
let key: string;
let bin: string;

beforeAll(async () => {
  system = await startIn(dataDir.path, { GOV_RATE_LIMITS: '0' });
  browser = await openChromium();
  visitor = await openVisitor(browser, system.consoleUrl);
  await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await visitor.page.goto('/console/overview');
  await signInByKeyboard(visitor.page, email);
  ada = await signIn(system, email);
  const scopes = ['read', 'agent'];
  ({ key } = (await ada.client.createApiKey({ body: { name: 'crawler', scopes } as never })).body);
  bin = mkdtempSync(join(tmpdir(), 'countersign-commands-'));
  await ada.client.applyWorkspaceSettings({ params: { id: ada.workspaceId } });
  await letProgramIn();
  for (let made = 0; made < callsMade; made += 1)
    await call({ effect_level: made < 3 ? 'E3' : 'E1', session_id: `s-${made}` });
  for (const title of ['One', 'Two', 'Three']) await ada.client.createTask({ body: { title } as never });
}, timeoutMs);

afterAll(async () => {
  await browser?.close();
  await system?.stop();
  dataDir.remove();
  rmSync(bin, { recursive: true, force: true });
}, timeoutMs);

async function call(more: object): Promise<void> {
  const body = { action: 'tool.call', tool: 'mail.send', ...more };
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const sent = { method: 'POST', headers, body: JSON.stringify(body) };
  expect((await fetch(new URL('/api/v1/evaluate', system.gatewayUrl), sent)).status).toBe(200);
}

const main = join(root, 'packages/cli/dist/main.js');
const environment = () => ({ PATH: process.env['PATH'], COUNTERSIGN_CONFIG_DIR: bin });

/** The command signs in as a person lets it, at a browser. */
async function letProgramIn(): Promise<void> {
  const tab = new Tab(system.gatewayUrl);
  await tab.signIn(email);
  const child = spawn(process.execPath, [main, 'login', '--url', system.gatewayUrl], {
    env: environment(),
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let told = '';
  child.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()));
  const ended = once(child, 'close');
  const code = await until(() => Promise.resolve(/confirm the code (\S+)/.exec(told)?.[1]));
  const body = { decision: 'approve', workspace_id: ada.workspaceId };
  expect((await tab.send(`/api/auth/device/${code}/decide`, { method: 'POST', body })).status).toBe(200);
  expect(await ended).toEqual([0, null]);
}

/** What a shell makes of the text, with `countersign` on its path. */
async function shell(command: string): Promise<{ status: number | null; ids: string[] }> {
  const script = `countersign() { "${process.execPath}" "${main}" "$@"; }\n${command} --output=table`;
  const child = spawn('/bin/sh', ['-c', script], {
    cwd: bin,
    env: environment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const out: string[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk.toString()));
  const [status] = (await once(child, 'close')) as [number | null]; // as Node gives it
  const [, ...lines] = out.join('').trimEnd().split('\n');
  return { status, ids: lines.map((line) => line.split(' ')[0] ?? '') };
}

/** The ids on the page, in its order. */
const shownIds = async (): Promise<string[]> => [
  ...new Set(
    await visitor.page.evaluate<string[]>(
      `[...document.querySelectorAll('main [data-id]')].map((it) => it.dataset.id)`,
    ),
  ),
];

async function copiedCommand(): Promise<string> {
  const { page } = visitor;
  await page.evaluate(`navigator.clipboard.writeText('')`);
  await page.keyboard.press('c');
  return await until(() => page.evaluate<string>('navigator.clipboard.readText()'));
}

const lists = [
  { path: 'receipts', least: 50 },
  { path: 'receipts?verdict=ESCALATE&kind=decision&tool=mail.send', least: 3 },
  { path: 'inbox', least: 3 },
  { path: 'runs', least: 3 },
  { path: 'budgets', least: 1 },
  { path: 'tools', least: 1 },
  { path: 'audit', least: 3 },
  { path: 'audit?verdict=allow', least: 1 },
];

describe('a command that is copied from a list', () => {
  it(
    'prints the same ids in the same order as the list, whatever narrows it',
    async () => {
      const { page } = visitor;
      for (const { path, least } of lists) {
        await page.goto(`/console/${path}`);
        await page.locator('main [data-id]').first().waitFor();
        const ids = await shownIds();
        expect([path, ids.length >= least]).toEqual([path, true]);
        const command = await copiedCommand();
        expect([path, await shell(command)]).toEqual([path, { status: 0, ids }]);
      }
    },
    timeoutMs,
  );

  it(
    'goes on where the list does, beyond one page of it',
    async () => {
      const { page } = visitor;
      await page.goto('/console/receipts');
      // What changes meanwhile has the list asked for anew, and the next page not.
      await until(async () => {
        const more = page.getByRole('button', { name: 'Show more' });
        await more.press('Enter', { timeout: 1_000 }).catch(() => undefined);
        return (await shownIds()).length > 50;
      });
      const ids = await shownIds();
      expect(await shell(await copiedCommand())).toEqual({ status: 0, ids });
      expect(visitor.faults).toEqual([]);
    },
    timeoutMs,
  );

  it(
    'holds each value as one word of a shell, and is not offered where a terminal would act on what it holds',
    async () => {
      const { page } = visitor;
      const asked = { action: 'tool.call', tool: 'mail.send', session_id: 'quoted' } as never; // plain names
      await kernelClient(system, ada.workspaceId, quoted).evaluate({ body: asked });
      await page.goto(`/console/receipts?agent=${encodeURIComponent(quoted)}`);
      await page.locator('main [data-id]').first().waitFor();
      expect(await shell(await copiedCommand())).toEqual({ status: 0, ids: await shownIds() });
      expect(existsSync(join(bin, 'pwned'))).toBe(false);
      const offered = page.getByRole('button', { name: 'Copy as a command' });
      expect(await offered.count()).toBe(1);

      await call({ tool: hidden, session_id: 'hidden' });
      await page.goto(`/console/receipts?tool=${encodeURIComponent(hidden)}`);
      await page.locator('main [data-id]').first().waitFor();
      expect(await offered.count()).toBe(0);
      expect(visitor.faults).toEqual([]);
    },
    timeoutMs,
  );
});
