import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { runCountersign } from '@countersign/cli';
import { verifies } from '@countersign/testkit/verifies';
import type { Page } from 'playwright-core';
import { untilAnswered } from '@countersign/testkit/until';
import { axeFindings, useConsole, type Visitor } from './_console.ts';
import { LongLedger, longestFrameMs, scrollThrough } from './_long-list.ts';
import { personAt, type Person } from './_signed-in.ts';
import { addressBook, kernelClient } from './_system.ts';

const address = addressBook();

const email = address('founder');
/** More than one page of a list. */
const callsMade = 60;
/** A principal that a shell would interpret without quotes. */
const quoted = `it's $(touch pwned) "x"`;
const hidden = 'bot\u202e';
const desk = useConsole();
const bin = mkdtempSync(join(tmpdir(), 'countersign-commands-'));
let ada: Person;
let key: string;

beforeAll(async () => {
  ada = await personAt(desk.system.gatewayUrl, email);
  const scopes = ['read', 'agent'];
  ({ key } = (await ada.client.createApiKey({ body: { name: 'crawler', scopes } as never })).body);
  await ada.client.applyWorkspaceSettings({ params: { id: ada.workspaceId } });
  const calls = Array.from({ length: callsMade }, (_, made) =>
    call({ effect_level: made < 3 ? 'E3' : 'E1', session_id: `s-${made}` }),
  );
  await Promise.all(calls);
  await fillLists();
  Object.assign(process.env, {
    ...{ COUNTERSIGN_URL: desk.system.gatewayUrl, COUNTERSIGN_CONFIG_DIR: bin },
    ...{ COUNTERSIGN_TOKEN: ada.token, COUNTERSIGN_WORKSPACE: ada.workspaceId },
  });
});

afterAll(() => {
  for (const name of ['URL', 'CONFIG_DIR', 'TOKEN', 'WORKSPACE']) delete process.env[`COUNTERSIGN_${name}`];
  rmSync(bin, { recursive: true, force: true });
});

/** Creates at least two items for each list of an owner. */
async function fillLists(): Promise<void> {
  const { client, workspaceId, tab } = ada;
  const params = { id: workspaceId };
  const headers = { 'x-workspace-id': workspaceId };
  const send = async (path: string, body: object, status: number) =>
    expect((await tab.send(path, { method: 'POST', headers, body })).status).toBe(status);
  const fill = async (name: string) => {
    await client.createInvite({ params, body: { email: `${name}@example.org`, role: 'member' } });
    await client.createApiKey({ body: { name } as never }); // the schema adds defaults
    await send('/api/ops/incidents', { title: name, severity: 'low', category: 'conduct', note: 'a drill' }, 201);
    await send('/api/ops/freeze', { target: `agent:${name}`, reason: 'a drill' }, 200);
    await send('/api/v1/access-keys', { kind: 'agent', principal_id: `agent-${name}`, doors: ['evaluate'] }, 201);
  };
  const titles = ['One', 'Two', 'Three'];
  await Promise.all([
    ...['one', 'two'].map(fill),
    ...titles.map((title) => client.createTask({ body: { title } as never })),
  ]);
}

async function call(more: object): Promise<void> {
  const body = { action: 'tool.call', tool: 'mail.send', ...more };
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const sent = { method: 'POST', headers, body: JSON.stringify(body) };
  expect((await fetch(new URL('/api/v1/evaluate', desk.system.gatewayUrl), sent)).status).toBe(200);
}

async function atPage(path: string): Promise<Visitor> {
  const visitor = await desk.visitAs(email, path);
  await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  return visitor;
}

const noInput = (async function* () {
  // The commands read no input.
})();

/** Runs a copied command. A real shell splits it into words, and the program runs in this process. */
async function shell(command: string): Promise<{ status: number; ids: string[] }> {
  const script = `countersign() { printf '%s\\0' "$@"; }\n${command} --output=table`;
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', script], { cwd: bin });
  const out: string[] = [];
  const status = await runCountersign(stdout.split('\0').slice(0, -1), {
    write: (text) => void out.push(text),
    tell: () => undefined,
    env: process.env,
    stdin: noInput,
    signal: new AbortController().signal,
  });
  const [, ...lines] = out.join('').trimEnd().split('\n');
  return { status, ids: lines.map((line) => line.split(' ')[0] ?? '') };
}

function newHold(): { released: Promise<void>; release: () => void } {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  return { released, release };
}

const sectionOf = (page: Page, name: string | undefined) =>
  name === undefined ? page.locator('main') : page.locator('main').getByRole('region', { name, exact: true });

type Row = { dataset: { id: string } };

/** The ids on the page or in one section, in the order of the page. */
async function shownIds(page: Page, section?: string): Promise<string[]> {
  const rows = sectionOf(page, section).locator('[data-id]');
  return [...new Set(await rows.evaluateAll((found: Row[]) => found.map(({ dataset }) => dataset.id)))];
}

async function copiedCommand(page: Page, section?: string): Promise<string> {
  await page.evaluate(`navigator.clipboard.writeText('')`);
  if (section === undefined) await page.keyboard.press('c');
  else await sectionOf(page, section).getByRole('button', { name: 'Copy as a command' }).press('Enter');
  return await untilAnswered(() => page.evaluate<string>('navigator.clipboard.readText()'));
}

const lists: { path: string; least: number; of?: string; only?: RegExp }[] = [
  { path: 'activity', least: 50 },
  { path: 'activity?verdict=ESCALATE&kind=decision&tool=mail.send', least: 3 },
  { path: 'inbox', least: 3 },
  { path: 'runs', least: 3 },
  { path: 'budgets', least: 1 },
  { path: 'tools', least: 1 },
  { path: 'connectors', least: 3 },
  // The command lists the log of the workspace. The page also shows the log of the control plane.
  { path: 'audit', least: 3, only: /^\d+$/ },
  { path: 'audit?verdict=allow', least: 1, only: /^\d+$/ },
  { path: 'incidents?state=open', least: 2 },
  { path: 'stops', least: 2, of: 'In force' },
  { path: 'members', least: 1, of: 'Members' },
  { path: 'members', least: 2, of: 'Invites' },
  { path: 'members', least: 2, of: 'Keys' },
  { path: 'members', least: 2, of: 'Agent keys' },
];

describe('a command that is copied from a list', () => {
  verifies('ui.cli', 'prints the same ids in the same order as the list, with every filter', async () => {
    const { page } = await atPage('/console/overview');
    for (const { path, least, of, only = /./ } of lists) {
      if (!page.url().endsWith(`/console/${path}`)) await page.goto(`/console/${path}`);
      await sectionOf(page, of).locator('[data-id]').first().waitFor();
      const ids = (await shownIds(page, of)).filter((id) => only.test(id));
      expect([path, of, ids.length >= least]).toEqual([path, of, true]);
      const command = await copiedCommand(page, of);
      expect([path, of, await shell(command)]).toEqual([path, of, { status: 0, ids }]);
    }
  });

  verifies('ui.cli', 'continues beyond the first page as the list does, while new rows arrive', async () => {
    const { page, faults } = await atPage('/console/overview');
    const [beforeHints, beforePage] = [newHold(), newHold()];
    const messages: unknown[] = [];
    await page.routeWebSocket(/./, (socket) => {
      const ofServer = async (message: string | Buffer) => {
        await beforeHints.released;
        socket.send(message);
        messages.push(message);
      };
      socket.connectToServer().onMessage((message) => void ofServer(message));
    });
    await page.route(/[?&]cursor=/, async (route) => {
      await beforePage.released;
      await route.continue();
    });
    await page.goto('/console/activity');
    const pending = page.waitForRequest(/[?&]cursor=/);
    await page.getByRole('button', { name: 'Show more' }).press('Enter');
    await pending;
    beforeHints.release();
    await untilAnswered(() => Promise.resolve(messages.length > 0));
    // Waits until the page has processed the message, because the page answers this call only afterwards.
    await page.evaluate('1');
    beforePage.release();
    await untilAnswered(async () => (await shownIds(page)).length > 50);
    await page.unrouteAll();
    const ids = await shownIds(page);
    expect(await shell(await copiedCommand(page))).toEqual({ status: 0, ids });
    expect(faults).toEqual([]);
  });

  verifies(
    'ui.cli',
    'quotes each value as one shell word, and is not offered for values with invisible characters',
    async () => {
      const request = { action: 'tool.call', tool: 'mail.send', session_id: 'quoted' } as never; // unbranded names
      await kernelClient(desk.system, ada.workspaceId, quoted).evaluate({ body: request });
      const { page, faults } = await atPage(`/console/activity?agent=${encodeURIComponent(quoted)}`);
      await page.locator('main [data-id]').first().waitFor();
      expect(await shell(await copiedCommand(page))).toEqual({ status: 0, ids: await shownIds(page) });
      expect(existsSync(join(bin, 'pwned'))).toBe(false);
      const offered = page.getByRole('button', { name: 'Copy as a command' });
      expect(await offered.count()).toBe(1);

      await call({ tool: hidden, session_id: 'hidden' });
      await page.goto(`/console/activity?tool=${encodeURIComponent(hidden)}`);
      await page.locator('main [data-id]').first().waitFor();
      expect(await offered.count()).toBe(0);
      expect(faults).toEqual([]);
    },
  );
});

const frameMsMax = 100;
const many = 100_000;
/** Page sizes that load all but six pages at once. The last six are read by scrolling. */
const readAtOnce = { newest: 50, older: 5_200 };
const readings = 19;
/** More than two pages of the list, in pixels. */
const grownPx = 2.5 * 200 * 35;

describe('a list of 100,000 receipts', () => {
  const box = '.long';
  /** The ID of the first row below the column heads, and its distance from the top. `false` while two frames differ. */
  const firstInSight = async (page: Page) => {
    const shown = await page.evaluate<[string, number][]>(`new Promise((done) => {
      const first = () => {
        const top = document.querySelector('${box}').getBoundingClientRect().top + 60;
        const row = [...document.querySelectorAll('${box} tr[data-id]')].find((it) => it.getBoundingClientRect().top > top);
        return [row?.dataset.id ?? '', Math.round(row?.getBoundingClientRect().top ?? 0)];
      };
      requestAnimationFrame(() => setTimeout(() => {
        const before = first();
        requestAnimationFrame(() => setTimeout(() => done([before, first()])));
      }));
    })`);
    const [before, after] = shown.map(String);
    return before === after && !before?.startsWith(',') && before;
  };

  verifies(
    'ui.budget',
    'scrolls without a frame over 100 ms while it grows, reads no page twice, and keeps its position and focus',
    async () => {
      const { page, context, faults } = await desk.visitAs(email, '/console/overview');
      const lastRow = page.locator(`${box} tr[data-id]`).last();
      const [sealed] = (await kernelClient(desk.system, ada.workspaceId).listReceipts({ query: { limit: 1 } })).body
        .data;
      if (sealed === undefined) throw new Error('Nothing was sealed');
      const ledger = new LongLedger(sealed, many);
      await ledger.answerIn(context);
      ledger.sizes = readAtOnce;
      await page.goto('/console/activity');
      const more = page.getByRole('button', { name: 'Show more' });
      for (let read = 0; read < readings; read += 1) {
        const answered = page.waitForResponse(/[?&]cursor=/);
        await more.press('Enter');
        await answered;
        await more.and(page.locator(':enabled')).waitFor();
      }
      // Garbage of earlier pages must not count against the list.
      await page.requestGC();
      Object.assign(ledger, { sizes: { newest: 50, older: 200 }, sealedBetween: 1 });
      await page.locator(`${box} tbody a`).first().focus();
      const stored = await page.evaluate<string>('document.activeElement.href');

      const way = await longestFrameMs(desk.browser, () => scrollThrough(page, box, grownPx));
      expect(way.frames).toBeGreaterThan(200);
      expect(way.ms).toBeLessThanOrEqual(frameMsMax);
      expect(await page.evaluate('document.activeElement.href')).toBe(stored);
      expect(await page.locator(`${box} tr[data-id]`).count()).toBeLessThan(100);
      // A row of an unexpected height would make the list recompute the position of all later rows.
      const heights = `[...document.querySelectorAll('${box} tr[data-id]')].map((row) => row.getBoundingClientRect().height)`;
      expect(new Set(await page.evaluate<number[]>(heights))).toEqual(new Set([36]));

      // New rows do not move a reader in the middle, even when they fill more than one page.
      await page.evaluate(`document.querySelector('${box}').scrollTop = 1_000_000`);
      const place = await untilAnswered(() => firstInSight(page));
      const size = (ledger.size += 120);
      await untilAnswered(async () => ledger.size > size + 1);
      expect(await untilAnswered(() => firstInSight(page))).toBe(place);

      await page.locator(box).focus();
      const table = page.locator(`${box} table`);
      await untilAnswered(async () => {
        await page.keyboard.press('End');
        return (await table.getAttribute('aria-rowcount')) !== '-1';
      });
      ledger.sealedBetween = 0;
      const count = () => ledger.size + 1;
      await untilAnswered(async () => (await table.getAttribute('aria-rowcount')) === String(count()));
      expect(count()).toBeGreaterThan(many + 121);
      await page.keyboard.press('End');
      await untilAnswered(async () => (await lastRow.getAttribute('data-id')) === ledger.idAt(0));
      expect(await lastRow.getAttribute('aria-rowindex')).toBe(String(count()));
      const older = ledger.cursors.filter((cursor) => cursor !== null);
      expect(older.filter((cursor, nth) => older.indexOf(cursor) !== nth)).toEqual([]);

      expect(await axeFindings(page)).toEqual([]);
      await page.emulateMedia({ media: 'print' });
      await page.getByText(`${ledger.size} rows were loaded, and only the visible rows are printed`).waitFor();
      await page.emulateMedia({ media: null });
      expect(faults).toEqual([]);
    },
  );
});
