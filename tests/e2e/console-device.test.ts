import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { axeFindings, openChromium, openVisitor, signInByKeyboard, typeInto, type Visitor } from './_console.ts';
import { SignInSystem } from './_sign-in-system.ts';

const timeoutMs = 120_000;
let system: SignInSystem;
let browser: Browser;

beforeAll(async () => {
  system = await SignInSystem.start();
  browser = await openChromium();
}, timeoutMs);

afterAll(async () => {
  await browser?.close();
  await system?.stop();
}, timeoutMs);

async function post(path: string, form: Record<string, string>): Promise<Record<string, string>> {
  const response = await fetch(new URL(path, system.gateway.url), { method: 'POST', body: new URLSearchParams(form) });
  return (await response.json()) as Record<string, string>; // the members that RFC 8628 has
}

const client_id = 'reporter on laptop-7';
const begin = (more: Record<string, string> = {}) => post('/api/auth/device/code', { client_id, ...more });
const poll = (device_code = '') =>
  post('/api/auth/device/token', {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code,
    client_id,
  });

async function visitor(path: string, screen: Parameters<typeof openVisitor>[2] = {}): Promise<Visitor> {
  const opened = await openVisitor(browser, system.gateway.url, screen);
  await opened.page.goto(path);
  await signInByKeyboard(opened.page, system.newAddress());
  return opened;
}

/** Of the address that the program shows, what is behind the origin. */
const shownPath = ({ verification_uri_complete = '' }: Record<string, string>) => {
  const { pathname, search } = new URL(verification_uri_complete);
  return pathname + search;
};

describe('the page that lets a program in', () => {
  it(
    'is where the address of the program leads, shows who asks for what, and gives at most what was asked for',
    async () => {
      const begun = await begin({ scope: 'partner' });
      const { page, context, faults } = await visitor(shownPath(begun), { width: 390 });
      await page.getByText(begun['user_code'] ?? 'no code').waitFor();
      expect(await page.getByText(client_id).isVisible()).toBe(true);
      expect(await page.getByText('127.0.0.1').isVisible()).toBe(true);
      expect(await page.getByLabel('It may act as').locator('option').allTextContents()).toEqual(['member', 'partner']);
      expect(await axeFindings(page)).toEqual([]);
      expect(await poll(begun['device_code'])).toMatchObject({ error: 'authorization_pending' });
      await page.getByLabel('It may act as').press('ArrowUp');
      await page.getByRole('button', { name: 'Let it in' }).press('Enter');
      await page.getByText(/reporter on laptop-7 may act in .* as member\./).waitFor();
      system.aheadMs += 10_000;
      expect(await poll(begun['device_code'])).toMatchObject({ token_type: 'Bearer', scope: 'member' });
      await page.getByRole('link', { name: 'You', exact: true }).press('Enter');
      await page.getByRole('region', { name: 'Programs that are let in' }).getByText(client_id).waitFor();
      expect(faults).toEqual([]);
      await context.close();
    },
    timeoutMs,
  );

  it(
    'takes a typed code, and refuses the program when it is told to',
    async () => {
      const begun = await begin();
      const { page, context, faults } = await visitor('/console/device');
      await typeInto(page.getByLabel('Code that the program shows'), 'BBBB-BBBB');
      await page.keyboard.press('Enter');
      await page.getByText('No program waits with this code').waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await page.getByRole('button', { name: 'Enter another code' }).press('Enter');
      await typeInto(page.getByLabel('Code that the program shows'), (begun['user_code'] ?? '').toLowerCase());
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Refuse' }).press('Enter');
      await page.getByText('was refused').waitFor();
      expect(await poll(begun['device_code'])).toMatchObject({ error: 'access_denied' });
      expect(faults).toEqual([]);
      await context.close();
    },
    timeoutMs,
  );

  it(
    'lets nobody into a workspace in which its visitor is nobody',
    async () => {
      const { tab } = await system.signedIn();
      const [foreign] = (await tab.send('/api/me')).body['workspaces'] as { id: string }[];
      const begun = await begin({ workspace_id: foreign?.id ?? '' });
      const { page, context } = await visitor(shownPath(begun));
      await page.getByText('a workspace in which you are nobody').waitFor();
      expect(await page.getByRole('button', { name: 'Let it in' }).count()).toBe(0);
      await context.close();
    },
    timeoutMs,
  );
});
