import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import type { Browser } from 'playwright-core';
import { openChromium, openVisitor, signInByKeyboard, type Visitor } from './_console.ts';
import { everyLook, faultsOf, movedOf, printedOf, twoLooks } from './_faults-of-page.ts';
import { Keyboard } from './_keyboard.ts';
import { pageCases } from './_pages.ts';
import { personAt } from './_signed-in.ts';
import { addressBook } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';

const address = addressBook();

const timeoutMs = 180_000;
let system: SharedSystem;
let browser: Browser;

beforeAll(async () => {
  system = await sharedSystem();
  browser = await openChromium();
}, timeoutMs);

afterAll(async () => {
  await browser?.close();
}, timeoutMs);

/** Somebody whose device has passkeys, at a page that is drawn. */
async function openPage(path: string, email: string): Promise<Visitor> {
  const visitor = await openVisitor(browser, system.consoleUrl);
  const { page, context } = visitor;
  const cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable', { enableUI: false });
  const options = {
    ...({ protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true } as const),
    ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
  };
  await cdp.send('WebAuthn.addVirtualAuthenticator', { options });
  await page.goto(`/console/${path}`);
  await signInByKeyboard(page, email);
  return visitor;
}

async function drawn({ page }: Visitor, title: string): Promise<void> {
  await page.getByRole('heading', { name: title, level: 1 }).waitFor();
  await page.getByText('Loading…').first().waitFor({ state: 'detached' });
}

describe('a page', () => {
  for (const { title, path, empty, act } of pageCases)
    verifies(
      'ui.pages',
      `${title}: by keyboard alone from what it offers when empty to what people come for, clean in every look`,
      async () => {
        const email = address(path);
        const person = await personAt(system.gatewayUrl, email);
        const visitor = await openPage(path, email);
        const { page, context, faults } = visitor;
        const at = { keys: new Keyboard(page), person, consoleUrl: system.consoleUrl };
        await drawn(visitor, title);
        if (empty !== undefined) {
          expect(await faultsOf(page, twoLooks)).toEqual([]);
          await empty(at);
        }
        await act(at);
        expect(await faultsOf(page, everyLook)).toEqual([]);
        expect(await movedOf(page)).toEqual([]);
        expect(await printedOf(page)).toEqual([]);
        expect(faults).toEqual([]);
        await context.close();
      },
      timeoutMs,
    );

  verifies(
    'ui.pages',
    'Sign in: clean in every look before anybody is known, and open to a keyboard alone; an address of no page leads on',
    async () => {
      const { page, context, faults } = await openVisitor(browser, system.consoleUrl);
      await page.goto('/console/sign-in');
      await page.getByLabel('E-mail address').waitFor();
      expect(await faultsOf(page, everyLook)).toEqual([]);
      expect(await movedOf(page)).toEqual([]);
      await signInByKeyboard(page, address('stranger'));
      await page.goto('/console/nowhere/at-all');
      await page.getByRole('heading', { name: 'No such page', level: 1 }).waitFor();
      expect(await faultsOf(page, everyLook)).toEqual([]);
      await new Keyboard(page).enter(page.getByRole('main').getByRole('link', { name: 'Overview' }));
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      expect(faults).toEqual([]);
      await context.close();
    },
    timeoutMs,
  );

  verifies(
    'ui.pages',
    'Device: a program is let in by keyboard alone, with the code that it shows',
    async () => {
      const begun = await fetch(new URL('/api/auth/device/code', system.gatewayUrl), {
        method: 'POST',
        body: new URLSearchParams({ client_id: 'countersign' }),
      });
      const { user_code: code } = (await begun.json()) as { user_code: string }; // RFC 8628, 3.2
      const { page, context, faults } = await openPage('device', address('typist'));
      const keys = new Keyboard(page);
      await keys.fill('Code that the program shows', code);
      expect(await faultsOf(page, everyLook)).toEqual([]);
      await keys.press('Enter');
      await keys.use('Let it in');
      await keys.sees(/countersign may act in/);
      expect(await faultsOf(page, everyLook)).toEqual([]);
      expect(faults).toEqual([]);
      await context.close();
    },
    timeoutMs,
  );

  it('stands in the table above as soon as it stands in the navigation', async () => {
    const { page, context } = await openPage('overview', address('founder'));
    const paths = await page.evaluate<string[]>(
      `[...document.querySelectorAll('nav[aria-label="Pages"] a')].map(({ pathname }) => pathname)`,
    );
    expect(paths).toEqual(pageCases.map(({ path }) => `/console/${path}`));
    await context.close();
  });
});
