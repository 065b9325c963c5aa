import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { createSessionTicket, getSession } from '@countersign/contracts/control-plane';
import { keptByScripts, signInByKeyboard, typeInto, useConsole, type Visitor } from './_console.ts';
import { addressBook } from './_system.ts';

const address = addressBook();

const hostile = `<img src=x onerror="alert(1)"><script>alert(2)</script> \u202epay`;
const shownHostile = `<img src=x onerror="alert(1)"><script>alert(2)</script> ⟨U+202E⟩pay`;

const desk = useConsole();
let people = 0;
const newAddress = () => address(`person-${++people}`);
const signedIn = (path: string) => desk.visitAs(newAddress(), path);

async function signedInByKeyboard(path: string): Promise<Visitor> {
  const visitor = await desk.visit();
  await visitor.page.goto(path);
  await signInByKeyboard(visitor.page, newAddress());
  return visitor;
}

/** Hides from the page that the session belongs to another person, until the page is reloaded. */
async function keepUnaware(page: Page): Promise<void> {
  let isLoadedAnew = false;
  page.on('framenavigated', () => (isLoadedAnew = true));
  await page.route('**/api/**', async (route, request) => {
    const { pathname } = new URL(request.url());
    if (isLoadedAnew || pathname === getSession.path) return await route.continue();
    if (pathname === createSessionTicket.path) return await route.abort();
    // Reads get no answer, while changes are sent.
    if (request.method() !== 'GET') return await route.continue();
  });
}

async function startRun({ page }: Visitor, words: { title: string; description: string }): Promise<void> {
  await page.keyboard.press('n');
  await typeInto(page.getByLabel('Title'), words.title);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(words.description);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
}

describe('the console', () => {
  it('signs a person in by keyboard alone and then opens the requested page', async () => {
    const { page, faults } = await signedInByKeyboard('/console/runs?asked=1');
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
    expect(page.url()).toBe(`${desk.origin}/console/runs?asked=1`);
    expect(faults).toEqual([]);
    expect(JSON.parse(await keptByScripts(page))).toEqual([{}, expect.anything(), '']);
    expect(await keptByScripts(page)).not.toMatch(/cp[ar]_|lgn_|csrf/);
  });

  it('opens no other site after the sign-in, for any address', async () => {
    const { page } = await signedInByKeyboard('/console/sign-in?back=https%3A%2F%2Fevil.example%2Fconsole%2Fruns');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).toBe(`${desk.origin}/console/overview`);
  });

  it('starts a run by keyboard and shows its trace, with hostile text as plain text', async () => {
    const visitor = await signedIn('/console/runs');
    const { page, faults } = visitor;
    const content = JSON.stringify({ path: 'letter.md', content: hostile });
    await startRun(visitor, { title: hostile, description: `call:files__write_file ${content}` });
    await page.getByRole('heading', { name: shownHostile, level: 1 }).waitFor();
    const asking = page.getByRole('article', { name: 'Step 2' });
    await asking.getByText('Needs approval').waitFor();
    expect(await asking.getByText('files.write_file').isVisible()).toBe(true);
    await page.keyboard.press('g');
    await page.keyboard.press('o');
    await page
      .getByRole('region', { name: 'Needs attention' })
      .getByText(/wants to write/)
      .waitFor();
    expect(await page.locator('img').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  it('returns to the sign-in when the session is over, and then to the page of the person', async () => {
    const { page, context, faults } = await signedIn('/console/overview');
    await context.clearCookies();
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await signInByKeyboard(page, newAddress());
    await page.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
    expect(faults).toEqual([]);
  });

  it('renews a session once for all requests of a page', async () => {
    const { page, context } = await signedIn('/console/runs');
    const [access] = (await context.cookies()).filter(({ path }) => path === '/');
    const renewals: string[] = [];
    context.on('request', (request) => {
      if (request.url().endsWith('/api/auth/refresh')) renewals.push(request.url());
    });
    await context.clearCookies({ name: access?.name ?? '' });
    await page.keyboard.press('g');
    await page.keyboard.press('o');
    await page.getByText('Each call decided').waitFor();
    expect(renewals).toHaveLength(1);
  });

  it('does nothing in the name of another person who has signed in in another tab', async () => {
    const { page, context } = await signedIn('/console/incidents');
    await page.getByRole('heading', { name: 'Nothing is stopped' }).waitFor();
    await keepUnaware(page);
    const second = await context.newPage();
    await second.goto('/console/overview');
    await second.getByRole('button', { name: 'Sign out', exact: true }).press('Enter');
    const email = newAddress();
    await signInByKeyboard(second, email);
    await page.keyboard.press('f');
    await page.getByRole('dialog').getByLabel('Why').fill('as whom?');
    await page.keyboard.press('Enter');
    await page.getByText(email).first().waitFor();
    await page.getByRole('heading', { name: 'Nothing is stopped' }).waitFor();
  });

  it('signs out at once', async () => {
    const { page, context } = await signedIn('/console/overview');
    await page.keyboard.press('Control+k');
    await typeInto(page.getByRole('combobox', { name: 'Page or action' }), 'sign out');
    await page.keyboard.press('Enter');
    await page.getByLabel('E-mail address').waitFor();
    expect((await context.cookies()).map(({ name }) => name)).toEqual([]);
  });
});

describe('the console files that the gateway serves', () => {
  const open = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${desk.system.gatewayUrl}${path}`, { headers });

  it('are linked from the root address', async () => {
    expect(await (await open('/')).text()).toContain('<a href="/console">');
  });

  it('include one document for every page, with the content security policy and revalidation on each request', async () => {
    const first = await open('/console');
    expect(first.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(first.headers.get('cache-control')).toBe('no-cache');
    const etag = first.headers.get('etag') ?? '';
    const text = await first.text();
    for (const path of ['/console/runs?a=1&b=', '/console/runs/tsk_1', '/console/no-such-page'])
      expect([path, await (await open(path)).text()]).toEqual([path, text]);
    const again = await open('/console/runs', { 'if-none-match': etag });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect((await open('/console/a/b/c')).status).toBe(404);
  });

  it('are immutable if their name contains a hash, compressed for clients that accept it, and no other files are served', async () => {
    const text = await (await open('/console')).text();
    const [path = ''] = /\/console\/assets\/[^"]+\.js/.exec(text) ?? [];
    const packed = await open(path, { 'accept-encoding': 'br;q=1, gzip' });
    expect(Object.fromEntries(packed.headers)).toMatchObject({
      'content-encoding': 'gzip',
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': expect.stringContaining("script-src 'self'"),
      vary: 'accept-encoding',
    });
    const plain = await open(path, { 'accept-encoding': 'gzip;q=0' });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(await plain.text()).toBe(await packed.text());
    for (const name of ['index.html', '..%2Findex.html', '%2e%2e', 'constructor'])
      expect([name, (await open(`/console/assets/${name}`)).status]).toEqual([name, 404]);
  });
});
