import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { untilAnswered } from '@countersign/testkit/until';
import { axeFindings, pressOnceFocused, typeInto, useConsole, type Screen, type Visitor } from './_console.ts';
import { SignInSystem } from './_sign-in-system.ts';

const desk = useConsole(() => SignInSystem.start());

beforeEach(() => {
  desk.system.aheadMs = 0;
});

async function atMembers(email: string, screen?: Screen): Promise<Visitor> {
  const visitor = await desk.visitAs(email, '/console/members', screen);
  await visitor.page.getByRole('region', { name: 'Members of the workspace' }).waitFor();
  return visitor;
}

const openWorkspaceId = (page: Page) => page.locator('.workspace-switch select').first().inputValue();

/** Invites by keyboard. Returns the token of the link that is shown once. */
async function invite(page: Page, email: string): Promise<string> {
  await page.keyboard.press('n');
  await typeInto(page.getByRole('dialog').getByLabel('E-mail address'), email);
  await page.keyboard.press('Enter');
  const link = (await page.getByRole('region', { name: 'Invite link' }).textContent()) ?? '';
  expect(await axeFindings(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('region', { name: 'Open invites' }).getByText(email).waitFor();
  return new URL(link).pathname.split('/').at(-1) ?? '';
}

async function join(token: string, email: string) {
  const { tab } = await desk.system.signedIn(email);
  const answer = await tab.send(`/api/auth/invite/${token}`, { method: 'POST', body: { email } });
  expect([answer.status, answer.body]).toMatchObject([200, { verificationRequired: false }]);
  return tab;
}

describe('members', () => {
  it('are invited, given a role and removed by keyboard alone, each with immediate effect', async () => {
    const { page, faults } = await atMembers(desk.system.newAddress());
    const email = desk.system.newAddress();
    const tab = await join(await invite(page, email), email);
    const id = await openWorkspaceId(page);
    const asInvited = () => tab.send('/api/tasks', { headers: { 'x-workspace-id': id } });
    expect((await asInvited()).status).toBe(200);
    await page.reload();
    const row = page.getByRole('row', { name: email });
    await row.getByRole('combobox').selectOption('partner');
    await typeInto(page.getByRole('dialog').getByLabel(`Type ${email} to go on`), email);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await untilAnswered(async () => (await row.getByRole('combobox').inputValue()) === 'partner');
    await row.getByRole('button', { name: 'Remove' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).waitFor();
    const typed = page.getByRole('dialog').getByLabel(`Type ${email} to go on`);
    await typeInto(typed, email);
    await page.keyboard.press('Enter');
    await row.waitFor({ state: 'detached' });
    expect((await asInvited()).status).toBe(404);
    expect(faults).toEqual([]);
  });
});

describe('keys', () => {
  it('are made by keyboard, shown once, and rejected after their end', async () => {
    const { page, faults } = await atMembers(desk.system.newAddress());
    await page.getByRole('button', { name: 'Make a key' }).press('Enter');
    await typeInto(page.getByRole('dialog').getByLabel('Name'), 'crawler');
    await page.getByLabel('Read the workspace').press('Space');
    await page.getByRole('button', { name: 'Make the key' }).press('Enter');
    const key = (await page.getByRole('region', { name: 'The key' }).textContent()) ?? '';
    expect(await axeFindings(page)).toEqual([]);
    const byKey = async () =>
      (await fetch(new URL('/api/tasks', desk.system.gateway.url), { headers: { authorization: `Bearer ${key}` } }))
        .status;
    expect(await byKey()).toBe(200);
    await page.keyboard.press('Escape');
    const row = page.getByRole('row', { name: 'crawler' });
    await row.getByText('agent, read').or(row.getByText('read, agent')).waitFor();
    await page.reload();
    await row.waitFor();
    expect(await page.content()).not.toContain(key);
    await row.getByRole('button', { name: 'Revoke' }).press('Enter');
    await pressOnceFocused(page.getByRole('button', { name: 'Revoke key' }));
    await row.getByText('ended').waitFor();
    expect(await byKey()).toBe(401);
    expect(faults).toEqual([]);
  });
});
