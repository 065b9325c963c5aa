// Takes pictures of the real console for the documents: `make pictures`. It starts its own system and writes only to
// docs/images.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSystem } from '@countersign/local';
import { chromium } from 'playwright-core';
import { findChromium } from '../runner/chromium.mjs';
import { tellStory } from './tell-story.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const folder = process.env.PICTURES_DIR ?? here('../../docs/images');
const email = 'ada@example.org';
const desktop = { width: 1280, height: 800 };
const phone = { width: 390, height: 844 };
/** The limit of a wait on a busy machine. A wait normally ends when its state is reached. */
const waitMs = 120_000;

const scratch = mkdtempSync(join(tmpdir(), 'countersign-pictures-'));
// PostgreSQL runs under its own account when we are root, and must be able to enter the folder.
chmodSync(scratch, 0o711);
mkdirSync(folder, { recursive: true });
const variables = { GOV_POLICY_FILE: here('story-policy.yaml'), GOV_SELF_TEST_DECISIONS: '0', GOV_RATE_LIMITS: '0' };
const system = await startSystem({ dataDir: join(scratch, 'data'), variables });
const executablePath = findChromium(process.env, console.error);
const browser = await chromium.launch({ executablePath, chromiumSandbox: false, args: ['--disable-gpu'] });
try {
  await takeFirstRun();
  await tellStory(system, { email });
  await takeStory();
} finally {
  await browser.close();
  await system.stop();
  rmSync(scratch, { recursive: true, force: true });
}

/** Opens the console for a person in a separate browser context. `take` waits until the page has loaded its content. */
async function visitAs(person, options = {}) {
  const context = await browser.newContext({ baseURL: system.consoleUrl, viewport: desktop, ...options });
  context.setDefaultTimeout(waitMs);
  const page = await context.newPage();
  const post = async (step, data) => {
    const headers = { 'sec-fetch-site': 'same-origin' };
    return (await context.request.post(`/api/auth/login/${step}`, { data, headers })).json();
  };
  const { login_id, code } = await post('begin', { email: person });
  await post('finish', { login_id, code });
  const open = async (path) => {
    await page.goto(`/console/${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await settled();
  };
  const settled = async () => {
    await page.getByText('Loading…').first().waitFor({ state: 'detached' });
    await page.getByText('Connecting', { exact: true }).waitFor({ state: 'detached' });
  };
  const take = async (name) => {
    await settled();
    await page.screenshot({ path: join(folder, `console-${name}.png`) });
  };
  return { context, page, open, take, close: () => context.close() };
}

/** The console of a new owner, before any call. */
async function takeFirstRun() {
  const stranger = await browser.newContext({ baseURL: system.consoleUrl, viewport: desktop });
  const page = await stranger.newPage();
  await page.goto('/console/overview');
  await page.getByLabel('E-mail address').waitFor();
  await page.screenshot({ path: join(folder, 'console-sign-in.png') });
  await stranger.close();
  const visitor = await visitAs('new@example.org');
  await visitor.open('overview');
  await visitor.page.getByText('Listening for the first call.').waitFor();
  await visitor.take('first-run');
  await visitor.close();
}

async function takeStory() {
  const ada = await visitAs(email);
  const { page, open, take } = ada;
  await open('overview');
  await page.getByLabel('Name of the organisation').fill('Harrow & Vale');
  await page.keyboard.press('Enter');
  await page.getByLabel('Name of the organisation').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Don’t show hints' }).click();
  await startSampleRun(ada);
  await giveStops(ada);
  await reportIncident(ada);
  await open('overview?period=1h');
  await page.getByText(/calls in 1 hour/).waitFor();
  await take('overview');
  await open('agents');
  await take('agents');
  await open('agents/invoice-clerk');
  await page.getByText(/receipts of the last 7 days/).waitFor();
  await take('agent');
  await open('inbox');
  await page
    .getByText(/receipts of the last 7 days/)
    .first()
    .waitFor();
  await take('inbox');
  for (const name of ['activity', 'tools', 'budgets', 'policy', 'audit', 'members', 'settings', 'incidents', 'runs']) {
    await open(name);
    await take(name);
  }
  await openDenied(ada);
  await take('receipt');
  await page.emulateMedia({ colorScheme: 'dark' });
  await take('receipt-dark');
  await open('overview?period=1h');
  await take('overview-dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(phone);
  await open('overview?period=1h');
  await take('overview-phone');
  await open('inbox');
  await take('inbox-phone');
  await ada.close();
}

async function startSampleRun({ page, open, take }) {
  await open('runs');
  await page.keyboard.press('n');
  await page.getByRole('button', { name: 'Start', exact: true }).press('Enter');
  await page.getByText('Open the inbox').waitFor();
  await take('run');
}

async function giveStops({ page, open }) {
  await open('incidents');
  const stops = [
    ['q', 'the new definition tells the agent to send mail', 'ledger.purge_month'],
    ['t', 'price watch loops', 'web.fetch'],
  ];
  for (const [key, why, tool] of stops) {
    await page.keyboard.press(key);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Why').fill(why);
    await dialog.getByLabel('Name of the tool').fill(tool);
    await page.keyboard.press('Enter');
    await page.getByRole('list', { name: 'Stops in force' }).getByText(why).waitFor();
  }
}

async function reportIncident({ page, take }) {
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Title').fill('Ledger agent tried to purge a month');
  await dialog.getByLabel('What is known').fill('36 calls of ledger.purge_month within a minute. All were denied.');
  await dialog.getByRole('button', { name: 'Report incident' }).press('Enter');
  await page.getByRole('heading', { name: 'Ledger agent tried to purge a month', level: 1 }).waitFor();
  await page.keyboard.press('p');
  await dialog.getByLabel('Why').fill('until the cause is known');
  await dialog.getByLabel('Name of the tool').fill('ledger.post_entry');
  await dialog.getByRole('button', { name: 'Show effect' }).press('Enter');
  await page.getByRole('article', { name: 'Plan, draft' }).waitFor();
  await take('incident');
}

async function openDenied({ page, open }) {
  await open('activity?verdict=DENY');
  await page.keyboard.press('v');
  await page.getByText('Verified in this browser').waitFor();
  await page.locator('[data-loading=true]').waitFor({ state: 'detached' });
}
