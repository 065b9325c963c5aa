import { beforeAll, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { signInByKeyboard, useConsole } from './_console.ts';
import { everyLook, faultsOf, movedOf } from './_faults-of-page.ts';
import { Keyboard } from './_keyboard.ts';
import { checkPage, follow, openAs, type AtConsole } from './_page-check.ts';
import { pageGroups } from './_pages.ts';
import { addressBook } from './_system.ts';

const address = addressBook();

const desk = useConsole();
let ada: AtConsole;

beforeAll(async () => {
  ada = await openAs(desk, address('ada'), 'overview');
});

describe('a page', () => {
  for (const page of pageGroups.ofPeople)
    verifies(
      'ui.pages',
      `${page.title}: its empty state and its main action work by keyboard alone, without accessibility faults at any width and in both themes`,
      async () => {
        await follow(ada, page.path);
        await checkPage(ada, page);
      },
    );

  verifies(
    'ui.pages',
    'Sign in: works by keyboard alone, without accessibility faults at any width and in both themes, and an unknown address shows "Page not found"',
    async () => {
      const { page, faults } = await desk.visit();
      await page.goto('/console/sign-in');
      await page.getByLabel('E-mail address').waitFor();
      expect(await faultsOf(page, everyLook)).toEqual([]);
      expect(await movedOf(page)).toEqual([]);
      await signInByKeyboard(page, address('stranger'));
      await page.goto('/console/nowhere/at-all');
      await page.getByRole('heading', { name: 'Page not found', level: 1 }).waitFor();
      expect(await faultsOf(page, everyLook)).toEqual([]);
      await new Keyboard(page).enter(page.getByRole('main').getByRole('link', { name: 'Overview' }));
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
      expect(faults).toEqual([]);
    },
  );

  verifies('ui.pages', 'Device: a program is admitted by keyboard alone, with the code that it shows', async () => {
    const begun = await fetch(new URL('/api/auth/device/code', desk.system.gatewayUrl), {
      method: 'POST',
      body: new URLSearchParams({ client_id: 'countersign' }),
    });
    const { user_code: code } = (await begun.json()) as { user_code: string }; // RFC 8628, 3.2
    const { page, faults } = await desk.visitAs(address('typist'), '/console/device');
    const keys = new Keyboard(page);
    await keys.fill('Code shown by the program', code);
    expect(await faultsOf(page, everyLook)).toEqual([]);
    await keys.press('Enter');
    await keys.use('Give access');
    await keys.sees(/countersign may act in/);
    expect(await faultsOf(page, everyLook)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('is checked by one of these files if it is in the navigation', async () => {
    const { page } = ada.visitor;
    const paths = await page.evaluate<string[]>(
      `[...document.querySelectorAll('aside[aria-label="Navigation"] a')].map(({ pathname }) => pathname)`,
    );
    const checked = Object.values(pageGroups).flat();
    expect(paths.sort()).toEqual(checked.map(({ path }) => `/console/${path}`).sort());
  });
});
