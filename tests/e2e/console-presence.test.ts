import { beforeEach, describe, expect, it } from '@jest/globals';
import { axeFindings, pressOnceFocused, typeInto, useConsole, type Visitor } from './_console.ts';
import { SignInSystem } from './_sign-in-system.ts';
import type { Tab } from './_tab.ts';

const sixMinutesMs = 360_000;
const desk = useConsole(() => SignInSystem.start());

beforeEach(() => {
  desk.system.aheadMs = 0;
});

/** A person at their own page, six minutes after the sign-in, with a second session elsewhere. */
async function lateVisitor(): Promise<Visitor & { elsewhere: Tab }> {
  const { tab: elsewhere, email } = await desk.system.signedIn();
  const visitor = await desk.visitAs(email, '/console/you');
  await visitor.page.getByText('this browser').waitFor();
  desk.system.aheadMs += sixMinutesMs;
  return { ...visitor, elsewhere };
}

const isSignedIn = async (tab: Tab) => (await tab.send('/api/session')).status === 200;

async function askToSignOut({ page }: Visitor): Promise<void> {
  await page.getByRole('row', { name: 'node' }).getByRole('button', { name: 'Sign out' }).press('Enter');
  await pressOnceFocused(page.getByRole('button', { name: 'Sign out browser' }));
  await page.getByRole('button', { name: 'Send me a code' }).waitFor();
}

describe('an act that needs a new proof of presence', () => {
  it('requests the proof, and is done after it, by keyboard alone', async () => {
    const visitor = await lateVisitor();
    const { page, elsewhere, faults } = visitor;
    await askToSignOut(visitor);
    expect(await axeFindings(page)).toEqual([]);
    expect(await isSignedIn(elsewhere)).toBe(true);
    await page.keyboard.press('Enter');
    const code = (await page.getByLabel('Code for development').textContent()) ?? '';
    await typeInto(page.getByLabel('Code', { exact: true }), code);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').first().waitFor({ state: 'detached' });
    await page.getByRole('row', { name: 'node' }).waitFor({ state: 'detached' });
    expect(await isSignedIn(elsewhere)).toBe(false);
    expect(faults).toEqual([]);
  });

  it('is not done without a new proof, and the person sees the reason and can continue', async () => {
    const visitor = await lateVisitor();
    const { page, elsewhere } = visitor;
    await askToSignOut(visitor);
    await page.keyboard.press('Escape');
    await page.getByText('REAUTHENTICATION_REQUIRED').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(1);
    expect(await isSignedIn(elsewhere)).toBe(true);
    await page.getByRole('button', { name: 'Sign out browser' }).press('Enter');
    await page.getByRole('button', { name: 'Send me a code' }).waitFor();
  });

  it('asks once for all sessions that end together, and ends the current one last', async () => {
    const { page, elsewhere, context } = await lateVisitor();
    await page.getByRole('button', { name: 'Sign out everywhere' }).press('Enter');
    await page.getByRole('button', { name: 'Send me a code' }).press('Enter');
    const code = (await page.getByLabel('Code for development').textContent()) ?? '';
    await typeInto(page.getByLabel('Code', { exact: true }), code);
    await page.keyboard.press('Enter');
    await page.getByLabel('E-mail address').waitFor();
    expect(await isSignedIn(elsewhere)).toBe(false);
    expect(await context.cookies()).toEqual([]);
  });
});
