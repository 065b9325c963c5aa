import { expect } from '@jest/globals';
import { addAuthenticator, type ConsoleOf, type Visitor } from './_console.ts';
import { everyLook, faultsOf, movedOf, printedOf, twoLooks } from './_faults-of-page.ts';
import { Keyboard } from './_keyboard.ts';
import type { PageCase } from './_pages.ts';
import { personAt, type Person } from './_signed-in.ts';
import type { SharedSystem } from './_shared-parts.ts';

export type AtConsole = { visitor: Visitor; person: Person };

/** Opens a page of the console as a new person with a workspace. The device stores passkeys. */
export async function openAs(desk: ConsoleOf<SharedSystem>, email: string, path: string): Promise<AtConsole> {
  const person = await personAt(desk.system.gatewayUrl, email);
  const visitor = await desk.visitAs(email, `/console/${path}`);
  await addAuthenticator(visitor);
  return { visitor, person };
}

/** Opens a page by its link in the navigation, without a reload. */
export async function follow({ visitor: { page } }: AtConsole, path: string): Promise<void> {
  await page.locator(`aside[aria-label="Navigation"] a[href="/console/${path}"]`).first().press('Enter');
}

/** Takes the page from its empty state to its main action by keyboard alone. Checks it for faults in both states. */
export async function checkPage({ visitor, person }: AtConsole, { title, empty, act }: PageCase): Promise<void> {
  const { page, faults } = visitor;
  const at = { keys: new Keyboard(page), person };
  await page.getByRole('heading', { name: title, level: 1 }).waitFor();
  await page.getByText('Loading…').first().waitFor({ state: 'detached' });
  if (empty !== undefined) {
    expect(await faultsOf(page, twoLooks)).toEqual([]);
    await empty(at);
  }
  await act(at);
  expect(await faultsOf(page, everyLook)).toEqual([]);
  expect(await movedOf(page)).toEqual([]);
  expect(await printedOf(page)).toEqual([]);
  expect(faults.splice(0)).toEqual([]);
}
