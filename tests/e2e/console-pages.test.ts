import { describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { addAuthenticator, signInByKeyboard, useConsole, type Visitor } from './_console.ts';
import { everyLook, faultsOf, movedOf, printedOf, twoLooks } from './_faults-of-page.ts';
import { Keyboard } from './_keyboard.ts';
import { pageCases } from './_pages.ts';
import { personAt } from './_signed-in.ts';
import { addressBook } from './_system.ts';

const address = addressBook();

const timeoutMs = 180_000;
const desk = useConsole();

const openPage = (path: string, email: string) => desk.visitAs(email, `/console/${path}`);

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
        const person = await personAt(desk.system.gatewayUrl, email);
        const visitor = await openPage(path, email);
        await addAuthenticator(visitor);
        const { page, faults } = visitor;
        const at = { keys: new Keyboard(page), person, consoleUrl: desk.origin };
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
      },
      timeoutMs,
    );

  verifies(
    'ui.pages',
    'Sign in: clean in every look before anybody is known, and open to a keyboard alone; an address of no page leads on',
    async () => {
      const { page, faults } = await desk.visit();
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
    },
    timeoutMs,
  );

  verifies(
    'ui.pages',
    'Device: a program is let in by keyboard alone, with the code that it shows',
    async () => {
      const begun = await fetch(new URL('/api/auth/device/code', desk.system.gatewayUrl), {
        method: 'POST',
        body: new URLSearchParams({ client_id: 'countersign' }),
      });
      const { user_code: code } = (await begun.json()) as { user_code: string }; // RFC 8628, 3.2
      const { page, faults } = await openPage('device', address('typist'));
      const keys = new Keyboard(page);
      await keys.fill('Code that the program shows', code);
      expect(await faultsOf(page, everyLook)).toEqual([]);
      await keys.press('Enter');
      await keys.use('Let it in');
      await keys.sees(/countersign may act in/);
      expect(await faultsOf(page, everyLook)).toEqual([]);
      expect(faults).toEqual([]);
    },
    timeoutMs,
  );

  it('stands in the table above as soon as it stands in the navigation', async () => {
    const { page } = await openPage('overview', address('founder'));
    const paths = await page.evaluate<string[]>(
      `[...document.querySelectorAll('nav[aria-label="Pages"] a')].map(({ pathname }) => pathname)`,
    );
    expect(paths).toEqual(pageCases.map(({ path }) => `/console/${path}`));
  });
});
