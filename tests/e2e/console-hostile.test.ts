import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import { verifies } from '@countersign/testkit/verifies';
import { untilAnswered } from '@countersign/testkit/until';
import { keptByScripts, useConsole, type Visitor } from './_console.ts';
import { kernelClient, scratchDataDir, signIn, startIn, type SignedIn } from './_system.ts';
import { Tab } from './_tab.ts';

const dataDir = scratchDataDir();
const email = 'founder@example.com';
const markup = `<img src=x onerror="alert(1)"><script>alert(2)</script>`;
const hostile = `${markup}\u202e`;
/** Characters that hide or reorder text for a reader or a terminal. */
const invisible = /[\u202a-\u202e\u2066-\u2069\u200b-\u200f]/;
const long = `${markup}${'x'.repeat(100_000)}`;
let notes: NoteServer;
let visitor: Visitor;
let ada: SignedIn;
let tab: Tab;

/** The file has its own system, because the test defines the tools of its server. */
const desk = useConsole(async () => {
  notes = await startNoteServer();
  notes.redefine('read_note', { title: hostile, description: long });
  const servers = [{ server_id: 'notes', transport: 'http', trust_annotations: true, url: notes.url }];
  return startIn(dataDir.path, { GOV_RATE_LIMITS: '0', GOV_MCP_SERVERS: JSON.stringify({ servers }) });
});

beforeAll(async () => {
  ada = await signIn(desk.system, email);
  tab = new Tab(desk.system.gatewayUrl);
  await tab.signIn(email);
  await plant();
  visitor = await desk.visitAs(email, '/console/overview');
});

afterAll(async () => {
  await notes?.close();
  dataDir.remove();
});

/** Writes hostile text into every field that a person or a program can set in the workspace. */
async function plant(): Promise<void> {
  await send(`/api/workspace/${ada.workspaceId}`, 'PUT', { name: hostile });
  await send('/api/auth/apikey', 'POST', { name: hostile });
  const description = `call:files__write_file ${JSON.stringify({ path: 'a.md', content: hostile })}`;
  const { id } = await send('/api/tasks', 'POST', { title: hostile, description });
  await send(`/api/tasks/${String(id)}/run`, 'POST');
  const incident = { title: hostile, severity: 'low', category: 'other', note: hostile };
  await send('/api/ops/incidents', 'POST', incident);
  const agent = kernelClient(desk.system, ada.workspaceId, markup);
  const request = {
    action: 'tool.call',
    tool: 'mail.send',
    session_id: 'planted',
    args: { [hostile]: hostile, to: long },
  };
  const { body } = await agent.evaluate({ body: request as never }); // unbranded names
  expect(body.verdict).toBe('ESCALATE');
  await agent.evaluate({ body: { ...request, tool: markup } as never });
}

async function send(path: string, method: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await tab.send(path, { method, body, headers: { 'x-workspace-id': ada.workspaceId } });
  expect([path, answer.status < 300, answer.status < 300 ? '' : answer.text]).toEqual([path, true, '']);
  return answer.body;
}

type Seen = { markup: boolean; invisible: boolean; elements: number };

/** The state of the page: whether hostile text is visible as text, and how many elements it created. */
async function seen(): Promise<Seen> {
  const text = await visitor.page.evaluate<string>('document.body.innerText');
  const elements = visitor.page.locator('#root img, #root script, #root iframe, main img, main script');
  return { markup: text.includes('<img src=x'), invisible: invisible.test(text), elements: await elements.count() };
}

const inert = { invisible: false, elements: 0 };

async function pagePaths(): Promise<string[]> {
  return await visitor.page.evaluate<string[]>(
    `[...document.querySelectorAll('aside[aria-label="Navigation"] a')].map(({ pathname }) => pathname)`,
  );
}

/** Pages that show text of other people. */
const shown = ['inbox', 'runs', 'activity', 'tools', 'incidents', 'members', 'settings'];

describe('hostile text of others', () => {
  verifies(
    'ui.csp',
    'is plain text on every page: no script runs, no other site is requested, and scripts can read no token',
    async () => {
      const { page, faults } = visitor;
      const paths = await pagePaths();
      expect(paths.length).toBeGreaterThan(10);
      for (const path of paths) {
        await page.goto(path);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.getByText('Loading…').first().waitFor({ state: 'detached' });
        if (shown.some((name) => path.endsWith(`/${name}`))) await untilAnswered(async () => (await seen()).markup);
        expect([path, await seen()]).toMatchObject([path, inert]);
        expect([path, faults]).toEqual([path, []]);
      }
      expect(await keptByScripts(page)).not.toMatch(/cp[ar]_|lgn_|hp_|eyJ|csrf|token/i);
    },
  );

  verifies('ui.csp', 'is plain text on the page of a run, a receipt or an incident', async () => {
    const { page, faults } = visitor;
    for (const list of ['runs', 'incidents']) {
      await page.goto(`/console/${list}`);
      await page.locator('main a').filter({ hasText: '<img src=x' }).first().press('Enter');
      await page.getByRole('heading', { level: 1 }).filter({ hasText: '<img src=x' }).waitFor();
      expect([list, await seen()]).toEqual([list, { markup: true, ...inert }]);
    }
    await page.goto('/console/activity?session=planted');
    await page.locator('main [data-id]').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await untilAnswered(async () => (await seen()).markup);
    expect(await seen()).toMatchObject(inert);
    expect(faults).toEqual([]);
  });

  it('would be detected if it created an element, ran an inline script or requested another site', async () => {
    const { page, faults } = await desk.visit();
    await page.goto('/console/sign-in');
    await page.getByLabel('E-mail address').waitFor();
    await page.evaluate(
      `document.body.insertAdjacentHTML('beforeend', '<img src="https://evil.example/x" onerror="alert(1)">')`,
    );
    await untilAnswered(() => Promise.resolve(faults.length > 0));
    expect(faults.join('\n')).toMatch(/Content Security Policy/);
  });
});
