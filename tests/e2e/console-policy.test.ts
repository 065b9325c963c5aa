import { beforeAll, expect, it } from '@jest/globals';
import type { PolicyBundle } from '@countersign/contracts/governance-kernel';
import { describeStory } from '@countersign/testkit/describe-story';
import type { Page } from 'playwright-core';
import { askAs, axeFindings, useConsole, type Visitor } from './_console.ts';
import { everyLook, faultsOf } from './_faults-of-page.ts';
import { addressBook, signIn } from './_system.ts';

const address = addressBook();

const email = address('founder');
const hostile = `<img src=x onerror="alert(1)">\u202e`;

const desk = useConsole();
let visitor: Visitor;
let page: Page;
let bundle: PolicyBundle;
let workspaceName: string;

beforeAll(async () => {
  const { client, workspaceId } = await signIn(desk.system, email);
  workspaceName = (await client.getWorkspace({ params: { id: workspaceId } })).body.name;
  const { key } = (await client.createApiKey({ body: { name: 'crawler' } as never })).body; // the schema adds defaults
  await fetch(new URL('/api/v1/evaluate', desk.system.gatewayUrl), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'tool.call', tool: 'shell.run', effect_level: 'E4', session_id: 'crawl' }),
  });
  visitor = await desk.visitAs(email, '/console/policy');
  page = visitor.page;
  const active = await askAs(visitor, `/api/v1/workspaces/${workspaceId}/policy/active`);
  ({ bundle } = (await active.json()) as { bundle: PolicyBundle });
});

const press = (name: string) => page.getByRole('button', { name }).press('Enter');

async function write(rules: object[]): Promise<void> {
  await page.getByRole('textbox', { name: 'Text of the draft' }).focus();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(JSON.stringify({ ...bundle, rules, tests: [] }, null, 1));
  await page.keyboard.press('Control+Enter');
}

const anything = { id: 'anything', effect: 'allow', match: { action: ['tool.call'] }, reason: hostile };
const loose = () => [...bundle.rules.filter(({ id }) => id !== 'deny-destructive'), anything];

describeStory('the policy page of a workspace', () => {
  it('starts a draft, compiles it at Ctrl-Enter, and shows each error at its line', async () => {
    await press('Start from the active rules');
    await page.getByRole('textbox', { name: 'Text of the draft' }).waitFor();
    await write([{ id: 'broken', effect: 'allow', when: 'args.x +', reason: hostile }]);
    await page.getByText('does not compile').waitFor();
    const diagnostics = page.getByRole('list', { name: 'Diagnostics' });
    await diagnostics.getByRole('button', { name: /^line \d+$/ }).press('Enter');
    expect(await page.locator('.cm-faulty').count()).toBe(1);
    expect(await page.locator('.cm-content:focus').count()).toBe(1);
    expect(await faultsOf(page, everyLook)).toEqual([]);
  });

  it('types letters as text: no single-key shortcut acts in the editor', async () => {
    const editor = page.getByRole('textbox', { name: 'Text of the draft' });
    await editor.focus();
    await page.keyboard.type(' gi?');
    await editor.getByText(' gi?').waitFor();
    expect([page.url(), await page.getByRole('dialog').count()]).toEqual([`${desk.origin}/console/policy`, 0]);
    for (let letter = 0; letter < 4; letter += 1) await page.keyboard.press('Backspace');
  });

  it('adds a rule by form, and asks before the person leaves unsaved changes', async () => {
    const editor = page.getByRole('textbox', { name: 'Text of the draft' });
    const toInbox = () => page.getByRole('link', { name: 'Inbox', exact: true }).press('Enter');
    await page.getByText('Add a rule by form').press('Enter');
    await page.getByLabel('Calls of these tools').fill('vault.*');
    await page.keyboard.press('Enter');
    await page.getByText('not saved').waitFor();
    await toInbox();
    await page.getByRole('dialog').getByText('Unsaved changes would be lost.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await editor.textContent()).toContain('vault.*');
    await toInbox();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard changes' }).press('Enter');
    await page.getByRole('heading', { name: 'Inbox', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Policy', exact: true }).press('Enter');
    await editor.waitFor();
    expect(await editor.textContent()).not.toContain('vault.*');
  });

  it('tries the draft on sealed decisions, and keeps a difference as a test, which then fails', async () => {
    await write(loose());
    await page.getByText('compiles', { exact: true }).waitFor();
    await press('Try on past calls');
    await page.getByText('1 become more permissive').waitFor();
    const cell = page.getByRole('row', { name: /^DENY/ }).getByRole('cell').first();
    expect(await cell.textContent()).toBe('1');
    expect(await faultsOf(page, everyLook)).toEqual([]);
    await press('Keep DENY of shell.run as a test');
    await page.getByText('editing', { exact: true }).waitFor();
    await page.getByRole('textbox', { name: 'Text of the draft' }).press('Control+Enter');
    await page.getByText('TEST_FAILED').waitFor();
    expect(await page.getByRole('form', { name: 'Activate' }).count()).toBe(0);
  });

  it('evaluates a draft beside the policy in force, and activates a draft by keyboard alone', async () => {
    await write(loose());
    await page.getByText('compiles', { exact: true }).waitFor();
    await page.getByLabel('Name of a lane').focus();
    await page.keyboard.type('loose');
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /^loose standing/ }).waitFor();
    await press('Try');
    const name = page.getByLabel('Type the name of the workspace');
    await name.focus();
    await page.keyboard.type(workspaceName);
    await page.keyboard.press('Enter');
    await page.getByText('In force as version 1').waitFor();
    await page.getByText('This workspace, version 1').waitFor();
    expect(await page.locator('img').count()).toBe(0);
    expect(visitor.faults).toEqual([]);
  });

  it('keeps a receipt as a test of the draft, and publishes it under an address that stops working when revoked', async () => {
    await page.goto('/console/activity?kind=decision&tool=shell.run');
    await page.getByRole('link', { name: 'shell.run' }).press('Enter');
    const receipt = page.getByRole('main');
    await receipt.getByRole('button', { name: 'Keep DENY of shell.run as a test' }).press('Enter');
    await receipt.getByText('The test fails with this draft').waitFor();
    await receipt.getByRole('button', { name: 'Publish a proof' }).press('Enter');
    const typed = page.getByLabel('Type publish to go on');
    await typed.waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await typed.fill('publish');
    await typed.press('Enter');
    const address = receipt.getByRole('button', { name: /\/p\/hdl_/ });
    await address.waitFor();
    expect(await axeFindings(page)).toEqual([]);
    const url = (await address.textContent()) ?? '';
    const stranger = await desk.visit();
    await stranger.page.goto(url);
    await stranger.page.getByRole('button', { name: 'Verify here' }).waitFor();
    await page.goto('/console/settings');
    const published = page.getByRole('region', { name: 'Published' });
    await published.getByRole('button', { name: /^Revoke link: receipt/ }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await published.getByRole('button', { name: /^Revoke link: receipt/ }).press('Enter');
    await page.getByText('No public links').waitFor();
    await stranger.page.reload();
    await stranger.page.getByText('Nothing is public here').waitFor();
    expect(await stranger.page.getByRole('button', { name: 'Verify here' }).count()).toBe(0);
    expect(visitor.faults).toEqual([]);
  });
});
