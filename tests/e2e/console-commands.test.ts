import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import type { Browser } from 'playwright-core';
import { root } from '../architecture/repository.ts';
import { axeFindings, openChromium, openVisitor, signInByKeyboard, type Visitor } from './_console.ts';
import { LongLedger, longestFrameMs, scrollThrough } from './_long-list.ts';
import { personAt, type Person } from './_signed-in.ts';
import { addressBook, kernelClient, until } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';

const address = addressBook();

const timeoutMs = 240_000;
const email = address('founder');
/** More than one page of a list. */
const callsMade = 60;
/** A principal that a shell would take apart, if it were not quoted. */
const quoted = `it's $(touch pwned) "x"`;
const hidden = 'bot\u202e';
let system: SharedSystem;
let browser: Browser;
let visitor: Visitor;
let ada: Person;
let key: string;
let bin: string;

beforeAll(async () => {
  system = await sharedSystem();
  browser = await openChromium();
  visitor = await openVisitor(browser, system.consoleUrl);
  await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await visitor.page.goto('/console/overview');
  await signInByKeyboard(visitor.page, email);
  ada = await personAt(system.gatewayUrl, email);
  const scopes = ['read', 'agent'];
  ({ key } = (await ada.client.createApiKey({ body: { name: 'crawler', scopes } as never })).body);
  bin = mkdtempSync(join(tmpdir(), 'countersign-commands-'));
  await ada.client.applyWorkspaceSettings({ params: { id: ada.workspaceId } });
  await letProgramIn();
  for (let made = 0; made < callsMade; made += 1)
    await call({ effect_level: made < 3 ? 'E3' : 'E1', session_id: `s-${made}` });
  await giveOut();
  for (const title of ['One', 'Two', 'Three']) await ada.client.createTask({ body: { title } as never });
}, timeoutMs);

afterAll(async () => {
  await browser?.close();
  rmSync(bin, { recursive: true, force: true });
}, timeoutMs);

/** What the lists of an owner hold. */
async function giveOut(): Promise<void> {
  const { client, workspaceId, tab } = ada;
  const params = { id: workspaceId };
  for (const name of ['one', 'two']) {
    await client.createInvite({ params, body: { email: `${name}@example.org`, role: 'member' } });
    await client.createApiKey({ body: { name } as never }); // its defaults are the schema's
    const headers = { 'x-workspace-id': workspaceId };
    const asked = { method: 'POST', headers };
    const body = { title: name, severity: 'low', category: 'conduct', note: 'a drill' };
    expect((await tab.send('/api/ops/incidents', { ...asked, body })).status).toBe(201);
    const stop = { target: `agent:${name}`, reason: 'a drill' };
    expect((await tab.send('/api/ops/freeze', { ...asked, body: stop })).status).toBe(200);
    const agent = { kind: 'agent', principal_id: `agent-${name}`, doors: ['evaluate'] };
    expect((await tab.send('/api/v1/access-keys', { ...asked, body: agent })).status).toBe(201);
  }
}

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
  const child = spawn(process.execPath, [main, 'login', '--url', system.gatewayUrl, '--role', 'owner'], {
    env: environment(),
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let told = '';
  child.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()));
  const ended = once(child, 'close');
  const code = await until(() => Promise.resolve(/confirm the code (\S+)/.exec(told)?.[1]));
  const body = { decision: 'approve', workspace_id: ada.workspaceId };
  expect((await ada.tab.send(`/api/auth/device/${code}/decide`, { method: 'POST', body })).status).toBe(200);
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

function newHold(): { released: Promise<void>; release: () => void } {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  return { released, release };
}

const sectionOf = (name: string | undefined) =>
  name === undefined
    ? visitor.page.locator('main')
    : visitor.page.locator('main').getByRole('region', { name, exact: true });

/** The ids on the page or in a section of it, in its order. */
async function shownIds(section?: string): Promise<string[]> {
  const rows = await sectionOf(section).locator('[data-id]').all();
  return [...new Set(await Promise.all(rows.map(async (row) => (await row.getAttribute('data-id')) ?? '')))];
}

async function copiedCommand(section?: string): Promise<string> {
  const { page } = visitor;
  await page.evaluate(`navigator.clipboard.writeText('')`);
  if (section === undefined) await page.keyboard.press('c');
  else await sectionOf(section).getByRole('button', { name: 'Copy as a command' }).press('Enter');
  return await until(() => page.evaluate<string>('navigator.clipboard.readText()'));
}

const lists: { path: string; least: number; of?: string }[] = [
  { path: 'receipts', least: 50 },
  { path: 'receipts?verdict=ESCALATE&kind=decision&tool=mail.send', least: 3 },
  { path: 'inbox', least: 3 },
  { path: 'runs', least: 3 },
  { path: 'budgets', least: 1 },
  { path: 'tools', least: 1 },
  { path: 'audit', least: 3 },
  { path: 'audit?verdict=allow', least: 1 },
  { path: 'incidents?state=open', least: 2 },
  { path: 'stops', least: 2, of: 'In force' },
  { path: 'members', least: 1, of: 'Members' },
  { path: 'members', least: 2, of: 'Invites' },
  { path: 'members', least: 2, of: 'Keys' },
  { path: 'members', least: 2, of: 'Keys of agents' },
];

describe('a command that is copied from a list', () => {
  verifies(
    'ui.cli',
    'prints the same ids in the same order as the list, whatever narrows it',
    async () => {
      const { page } = visitor;
      for (const { path, least, of } of lists) {
        await page.goto(`/console/${path}`);
        await sectionOf(of).locator('[data-id]').first().waitFor();
        const ids = await shownIds(of);
        expect([path, of, ids.length >= least]).toEqual([path, of, true]);
        const command = await copiedCommand(of);
        expect([path, of, await shell(command)]).toEqual([path, of, { status: 0, ids }]);
      }
    },
    timeoutMs,
  );

  verifies(
    'ui.cli',
    'goes on where the list does, beyond one page of it, whatever is told meanwhile',
    async () => {
      const { page } = visitor;
      const [beforeHints, beforePage] = [newHold(), newHold()];
      const told: unknown[] = [];
      await page.routeWebSocket(/./, (socket) => {
        const ofServer = async (message: string | Buffer) => {
          await beforeHints.released;
          socket.send(message);
          told.push(message);
        };
        socket.connectToServer().onMessage((message) => void ofServer(message));
      });
      await page.route(/[?&]cursor=/, async (route) => {
        await beforePage.released;
        await route.continue();
      });
      await page.goto('/console/receipts');
      const asked = page.waitForRequest(/[?&]cursor=/);
      await page.getByRole('button', { name: 'Show more' }).press('Enter');
      await asked;
      beforeHints.release();
      await until(() => Promise.resolve(told.length > 0));
      // The page has acted on it when it answers.
      await page.evaluate('1');
      beforePage.release();
      await until(async () => (await shownIds()).length > 50);
      await page.unrouteAll();
      const ids = await shownIds();
      expect(await shell(await copiedCommand())).toEqual({ status: 0, ids });
      expect(visitor.faults).toEqual([]);
    },
    timeoutMs,
  );

  verifies(
    'ui.cli',
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

const frameMsMax = 100;
const many = 100_000;
/** All of them but six pages are read at once: those are read as somebody scrolls. */
const readAtOnce = { newest: 50, older: 5_200 };
const readings = 19;
/** More than two pages of the list. */
const grownPx = 2.5 * 200 * 35;

describe('a list of 100,000 receipts', () => {
  const box = '.long';
  const lastRow = () => visitor.page.locator(`${box} tr[data-id]`).last();
  const firstInSight = () =>
    visitor.page.evaluate<[string, number] | null>(`(() => {
      const { top } = document.querySelector('${box} tbody').parentElement.tHead.getBoundingClientRect();
      const row = [...document.querySelectorAll('${box} tr[data-id]')].find((it) => it.getBoundingClientRect().top > top + 60);
      return row === undefined ? null : [row.dataset.id, Math.round(row.getBoundingClientRect().top)];
    })()`);

  verifies(
    'ui.budget',
    'scrolls without a frame over 100 ms while it grows and new ones come, reads no page twice, and loses neither place nor focus',
    async () => {
      const { page, context } = visitor;
      const [sealed] = (await kernelClient(system, ada.workspaceId).listReceipts({ query: { limit: 1 } })).body.data;
      if (sealed === undefined) throw new Error('Nothing was sealed');
      const ledger = new LongLedger(sealed, many);
      await ledger.answerIn(context);
      ledger.sizes = readAtOnce;
      await page.goto('/console/receipts');
      const more = page.getByRole('button', { name: 'Show more' });
      for (let read = 0; read < readings; read += 1) {
        const answered = page.waitForResponse(/[?&]cursor=/);
        await more.press('Enter');
        await answered;
        await more.and(page.locator(':enabled')).waitFor();
      }
      // What is left of pages that no service answers is not the list's to clear away.
      await page.requestGC();
      Object.assign(ledger, { sizes: { newest: 50, older: 200 }, sealedBetween: 1 });
      await page.locator(`${box} tbody a`).first().focus();
      const held = await page.evaluate<string>('document.activeElement.href');

      const way = await longestFrameMs(browser, () => scrollThrough(page, box, grownPx));
      expect(way.frames).toBeGreaterThan(200);
      expect(way.ms).toBeLessThanOrEqual(frameMsMax);
      expect(await page.evaluate('document.activeElement.href')).toBe(held);
      expect(await page.locator(`${box} tr[data-id]`).count()).toBeLessThan(100);

      // Somebody reads in the middle, and what is new does not move it, also where it is more than one page.
      await page.evaluate(`document.querySelector('${box}').scrollTop = 1_000_000`);
      const place = await until(firstInSight);
      const size = (ledger.size += 120);
      await until(async () => ledger.size > size + 1);
      expect(await firstInSight()).toEqual(place);

      await page.locator(box).focus();
      const table = page.locator(`${box} table`);
      await until(async () => {
        await page.keyboard.press('End');
        return (await table.getAttribute('aria-rowcount')) !== '-1';
      });
      ledger.sealedBetween = 0;
      const count = () => ledger.size + 1;
      await until(async () => (await table.getAttribute('aria-rowcount')) === String(count()));
      expect(count()).toBeGreaterThan(many + 121);
      await page.keyboard.press('End');
      await until(async () => (await lastRow().getAttribute('data-id')) === ledger.idAt(0));
      expect(await lastRow().getAttribute('aria-rowindex')).toBe(String(count()));
      const older = ledger.asked.filter((cursor) => cursor !== null);
      expect(older.filter((cursor, nth) => older.indexOf(cursor) !== nth)).toEqual([]);

      expect(await axeFindings(page)).toEqual([]);
      await page.emulateMedia({ media: 'print' });
      await page.getByText(`Of ${ledger.size} rows that were loaded, those are printed that were in sight`).waitFor();
      await page.emulateMedia({ media: null });
      expect(visitor.faults).toEqual([]);
      await context.unrouteAll();
    },
    timeoutMs,
  );
});
