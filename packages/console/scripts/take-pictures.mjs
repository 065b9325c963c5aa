// Pictures of the console for the documents, of a system that runs: CONSOLE_URL=http://localhost:3000 node packages/console/scripts/take-pictures.mjs
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const requireFromTests = createRequire(new URL('../../../tests/package.json', import.meta.url));
const { chromium } = requireFromTests('playwright-core');
const { CONSOLE_URL: origin = 'http://localhost:3000', CHROMIUM_PATH: executablePath = '/usr/bin/chromium' } =
  process.env;
const folder = fileURLToPath(new URL('../../../docs/images/', import.meta.url));

const browser = await chromium.launch({ executablePath, chromiumSandbox: false, args: ['--disable-gpu'] });
const context = await browser.newContext({ baseURL: origin, viewport: { width: 1100, height: 680 } });
const page = await context.newPage();
const take = (name) => page.screenshot({ path: `${folder}console-${name}.png` });
const press = async (...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};

/** A device that keeps passkeys, as Chromium plays one. */
async function plugInDevice() {
  const cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable', { enableUI: false });
  const options = {
    ...{ protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true },
    ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
  };
  await cdp.send('WebAuthn.addVirtualAuthenticator', { options });
}

/** What a program at a terminal is told when it asks to be let in. */
async function askAsProgram(client_id) {
  const body = new URLSearchParams({ client_id, scope: 'partner' });
  return (await fetch(new URL('/api/auth/device/code', origin), { method: 'POST', body })).json();
}

async function signIn(email) {
  await page.getByLabel('E-mail address').fill(email);
  await press('Enter');
  await page.keyboard.type((await page.getByLabel('Code for development').textContent()) ?? '');
  await press('Enter');
}

await page.goto('/console/overview');
await page.getByLabel('E-mail address').waitFor();
await take('sign-in');
await signIn('ada@example.org');
await page.getByLabel('Name of the organisation').fill('Lighthouse');
await press('Enter');
await page.getByLabel('Name of the organisation').waitFor({ state: 'detached' });
await press('g', 'r');
await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
await press('n');
await page.getByRole('button', { name: 'Start', exact: true }).press('Enter');
await page.getByText('Open the inbox').waitFor();
await press('g', 'o');
await page.getByText('1 call waits').waitFor();
await page.getByRole('table').waitFor();
await take('overview');
await press('g', 'i');
await page.getByRole('article', { name: 'files.write_file, pending' }).waitFor();
await press('j');
await page.locator('[data-chosen]').waitFor();
await page.getByText('receipts of seven days').waitFor();
await take('inbox');

/** Somebody who was called out of bed, at a phone. */
await page.setViewportSize({ width: 390, height: 844 });
await take('inbox-phone');
await page.setViewportSize({ width: 1100, height: 680 });

await press('g', 'e');
await page.getByRole('button', { name: 'Report an incident' }).waitFor();
await press('n');
await page.getByRole('dialog').getByLabel('Title').fill('An agent writes letters at night');
await page.getByLabel('What is known').fill('Customers ask about letters that nobody here has sent.');
await page.getByRole('button', { name: 'Report incident' }).press('Enter');
await page.getByRole('heading', { name: 'An agent writes letters at night' }).waitFor();
await press('p');
await page.getByRole('dialog').getByLabel('Why').fill('until it is known who asked for the letters');
await page.getByLabel('Name of the tool').fill('files.write_file');
await page.getByRole('button', { name: 'Show effect' }).press('Enter');
await page.getByRole('article', { name: 'Plan, draft' }).scrollIntoViewIfNeeded();
await take('incident');
await press('g', 'f');
await page.getByRole('heading', { name: 'Stops' }).waitFor();
await press('t');
await page.getByRole('dialog').getByLabel('Why').fill('it reads faster than anybody needs');
await page.getByLabel('Name of the tool').fill('crm.read');
await press('Enter');
await page.getByText('throttle effective').waitFor();
await page.reload();
await page.getByRole('region', { name: 'Fences' }).waitFor();
await take('stops');

await press('g', 'm');
await page.getByRole('button', { name: 'Invite member' }).waitFor();
await press('n');
await page.getByRole('dialog').getByLabel('E-mail address').fill('bob@example.org');
await press('Enter');
await page.getByRole('region', { name: 'Invite link' }).waitFor();
await press('Escape');
await page.getByRole('button', { name: 'Make a key' }).press('Enter');
await page.getByRole('dialog').getByLabel('Name').fill('crawler');
await press('Enter');
await page.getByRole('region', { name: 'The key' }).waitFor();
await press('Escape');
await page.getByRole('row', { name: 'crawler' }).waitFor();
await take('members');

await page.goto(`/console/device?user_code=${(await askAsProgram('countersign CLI on laptop-7')).user_code}`);
await page.getByRole('button', { name: 'Give access' }).waitFor();
await take('device');
await page.getByRole('button', { name: 'Give access' }).press('Enter');
await page.getByText('may act in').waitFor();

for (const path of ['runs', 'tools', 'budgets', 'policy', 'audit', 'settings']) {
  await page.goto(`/console/${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.getByText('Loading…').first().waitFor({ state: 'detached' });
  await take(path);
}

await page.emulateMedia({ colorScheme: 'dark' });
await page.goto('/console/receipts?kind=decision');
await page.getByRole('table').waitFor();
await press('v');
await page.getByRole('button', { name: 'Verify in the browser' }).press('Enter');
await page.getByText('Verified in this browser').waitFor();
await page.locator('[data-loading=true]').waitFor({ state: 'detached' });
await take('receipt-dark');
await page.getByRole('button', { name: 'Publish a proof' }).press('Enter');
await page.getByLabel('Type publish to go on').fill('publish');
await press('Enter');
const address = await page.getByRole('button', { name: /\/p\/hdl_/ }).textContent();
await plugInDevice();
await page.goto('/console/you');
await page.getByRole('button', { name: 'Enrol a passkey' }).press('Enter');
await page.getByText('The passkey is enrolled').waitFor();
await take('you-dark');
await page.emulateMedia({ colorScheme: 'light' });
await page.goto('/console/receipts');
await page.getByRole('table').waitFor();
await take('receipts');
await page.goto(address);
await page.getByText('Keys in use').waitFor();
await press('v');
await page.getByText('Verified in this browser').scrollIntoViewIfNeeded();
await take('proof');
await browser.close();
