import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { untilAnswered } from '@countersign/testkit/until';
import { askAs, axeFindings, pressOnceFocused, typeInto, useConsole, type Visitor } from './_console.ts';
import { startReplicas } from './_replicas.ts';
import { signIn, type SignedIn } from './_system.ts';

const policy = `
format: countersign/policy.v1
name: controls
version: '1'
rules:
  - { id: all, effect: allow }
tools:
  crm.read: { effect_level: E1 }
`;
const desk = useConsole(() => startReplicas(policy));
let people = 0;

type Person = SignedIn & Visitor;

/** The owner of a workspace at one of its pages. */
async function personAt(path: string, width?: number): Promise<Person> {
  const email = `person-${(people += 1)}@example.org`;
  const visitor = await desk.visitAs(email, path, width === undefined ? {} : { width });
  await visitor.page.getByRole('heading', { level: 1 }).waitFor();
  return { ...visitor, ...(await signIn({ gatewayUrl: desk.system.gateway.url }, email)) };
}

/** Opens the form with a key, and fills it in from the focused field. */
async function giveStop(page: Page, key: string, why: string): Promise<void> {
  await page.keyboard.press(key);
  await typeInto(page.getByRole('dialog').getByLabel('Why'), why);
}

let calls = 0;
const statementOf = async ({ workspaceId }: SignedIn) => {
  const body = { action: 'tool.call', tool: 'crm.read', session_id: `controls-${(calls += 1)}` } as never; // unbranded names
  return (await desk.system.agents(workspaceId, 'carol')[0].evaluate({ body })).body.reason_code;
};

describe('the page of stops', () => {
  it('freezes the workspace by keyboard with one confirmation, and shows the state that the kernel reports', async () => {
    const person = await personAt('/console/overview');
    const { page, faults } = person;
    await page.keyboard.press('g');
    await page.keyboard.press('f');
    await page.getByRole('heading', { name: 'Nothing is stopped' }).waitFor();
    expect(await statementOf(person)).toBe('ALLOWED');
    await giveStop(page, 'f', 'the vault leaks <b>\u202e');
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Control+k');
    expect(await page.getByRole('dialog').count()).toBe(1);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Freeze in force: This workspace' }).waitFor();
    expect(await statementOf(person)).toBe('SYSTEM_FROZEN');
    const fence = page.getByRole('list', { name: 'Stops in force' }).getByRole('listitem');
    await fence.getByText('the vault leaks <b>⟨U+202E⟩').waitFor();
    await page.getByRole('status', { name: 'Enforcement' }).getByText('Frozen').waitFor();
    expect(faults).toEqual([]);
  });

  it('resumes on a phone only after the kernel has allowed the change', async () => {
    const person = await personAt('/console/incidents', 390);
    const { page, faults, workspaceId } = person;
    await page.getByRole('heading', { name: 'Nothing is stopped' }).waitFor();
    await giveStop(page, 'f', 'the vault leaks, and so does whatever reads it overnight');
    await page.keyboard.press('Enter');
    await page.getByText('Freeze in force').waitFor();
    const fences = page.getByRole('list', { name: 'Stops in force' });
    await fences.getByText('until it is resumed').waitFor();
    expect(
      await page.evaluate(
        `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('[aria-label="Stops in force"]'))`,
      ),
    ).toBe(0);
    await fences.getByRole('button', { name: /^Resume / }).press('Enter');
    await page.getByRole('dialog').getByLabel('Reason to resume').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    const typed = page.getByLabel(`Type workspace:${workspaceId} to go on`);
    await page.getByLabel('Reason to resume').fill('the vault is mended');
    expect(await statementOf(person)).toBe('SYSTEM_FROZEN');
    await typed.fill(`workspace:${workspaceId}`);
    await typed.press('Enter');
    await page.getByRole('heading', { name: 'Resumed: This workspace' }).waitFor();
    await page.getByRole('heading', { name: 'Nothing is stopped' }).waitFor();
    expect(await statementOf(person)).toBe('ALLOWED');
    expect(faults).toEqual([]);
  });

  it('throttles one tool for the chosen time and rate', async () => {
    const person = await personAt('/console/incidents');
    const { page } = person;
    await page.getByRole('heading', { name: 'Nothing is stopped' }).waitFor();
    await giveStop(page, 't', 'too fast');
    await page.getByLabel('Name of the tool').fill('crm.read');
    await page.getByLabel('Calls per minute').fill('1');
    await page.keyboard.press('Enter');
    await page.getByText('Throttle in force').waitFor();
    await page.getByRole('list', { name: 'Stops in force' }).getByText('to 1 call a minute').waitFor();
    expect([await statementOf(person), await statementOf(person)]).toEqual(['ALLOWED', 'THROTTLED']);
  });

  it('never shows a stop as in force before the kernel has confirmed it', async () => {
    const person = await personAt('/console/incidents');
    const { page, faults } = person;
    await page.getByRole('heading', { name: 'Nothing is stopped' }).waitFor();
    desk.system.toKernel.cut();
    try {
      await page.getByRole('heading', { name: 'The kernel does not answer' }).waitFor();
      expect(await page.getByText('Nothing is stopped').count()).toBe(0);
      await giveStop(page, 'f', 'kept until it is there');
      await page.keyboard.press('Enter');
      await page.getByText('Freeze not confirmed: This workspace').waitFor();
      await page.getByRole('region', { name: 'Commands' }).getByText('kept until it is there').waitFor();
      expect(await page.getByRole('list', { name: 'Stops in force' }).count()).toBe(0);
      expect(await axeFindings(page)).toEqual([]);
    } finally {
      desk.system.toKernel.restore();
    }
    await page.getByRole('list', { name: 'Stops in force' }).getByText('kept until it is there').waitFor();
    // The kernel has the stop a moment before the control plane records the confirmation.
    await page.getByRole('region', { name: 'Commands' }).waitFor({ state: 'detached' });
    await page.getByText('Freeze not confirmed').waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
  });
});

describe('the page of budgets', () => {
  it('sets the monthly ceiling at the kernel', async () => {
    const person = await personAt('/console/budgets');
    const { page, faults, workspaceId } = person;
    await page.getByRole('button', { name: 'Set the ceiling' }).press('Enter');
    await page.getByLabel('Ceiling for a calendar month').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await typeInto(page.getByLabel('Ceiling for a calendar month'), '12.5');
    await page.keyboard.press('Enter');
    const row = page.getByRole('row', { name: 'ceiling.llm_month' });
    await row.getByText('$12.50').waitFor();
    const limitAtKernel = async () => {
      const { data } = (await desk.system.agents(workspaceId)[0].listBudgets()).body;
      return data.map(({ budget_id, spend_limit_minor }) => [budget_id, spend_limit_minor]);
    };
    expect(await limitAtKernel()).toEqual([['ceiling.llm_month', 1_250]]);
    expect(faults).toEqual([]);
  });
});

describe('the page of tools', () => {
  it('shows that a server has changed a tool since its approval, and the difference', async () => {
    const person = await personAt('/console/tools');
    const { page, context, faults, workspaceId } = person;
    const row = page.getByRole('row', { name: 'notes.read_note' });
    await row.getByText('as approved').waitFor();
    desk.system.notes.redefine('read_note', { description: 'Reads a note. <img src=x onerror="alert(1)">\u202e' });
    await untilAnswered(async () => {
      await desk.system.agents(workspaceId)[0].listMcpCapabilities();
      return row.getByText('changed').isVisible();
    });
    await row.getByRole('link').press('Enter');
    await page.getByRole('region', { name: 'Current: description' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    const headers = { 'x-workspace-id': workspaceId };
    const answer = await askAs({ page, context, faults }, '/api/ops/drift', { headers });
    const { data } = (await answer.json()) as { data: { tool: string; status: string; diff: { path: string }[] }[] };
    const drifted = data.filter(({ status }) => status !== 'in_sync');
    expect(drifted).toMatchObject([{ tool: 'notes.read_note', status: 'drifted', diff: [{ path: 'description' }] }]);
    expect(data.filter(({ diff }) => diff.length === 0).length).toBe(data.length - 1);
    expect(faults).toEqual([]);
  });
});

describe('the page of incidents', () => {
  it('leads by keyboard from the report through a reviewed and committed plan to the end', async () => {
    const person = await personAt('/console/incidents');
    const { page, faults } = person;
    const dialog = page.getByRole('dialog');
    const note = async (move: string, text: string) => {
      await page.getByRole('button', { name: move }).first().press('Enter');
      await typeInto(dialog.getByLabel('Note'), text);
      await dialog.getByRole('button', { name: move }).press('Enter');
    };
    await page.getByRole('heading', { name: 'No incidents yet' }).waitFor();
    expect(await statementOf(person)).toBe('ALLOWED');
    await page.keyboard.press('n');
    await typeInto(dialog.getByLabel('Title'), 'It reads <b>everything');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Seen by night');
    expect(await axeFindings(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Report incident' }).press('Enter');
    await page.getByRole('heading', { name: 'It reads <b>everything', level: 1 }).waitFor();
    await page.getByRole('region', { name: 'Timeline' }).getByText('Seen by night').waitFor();

    await page.keyboard.press('p');
    await typeInto(dialog.getByLabel('Why'), 'it reads too much');
    await dialog.getByLabel('Name of the tool').fill('crm.read');
    await dialog.getByRole('button', { name: 'Show effect' }).press('Enter');
    const plan = page.getByRole('article', { name: /^Plan/ });
    await plan.getByLabel('Agents: 1').waitFor();
    await plan.getByText('1 call would').waitFor();
    expect(await statementOf(person)).toBe('ALLOWED');
    await plan.getByRole('button', { name: 'Approve' }).press('Enter');
    await plan.getByRole('button', { name: 'Commit' }).press('Enter');
    await dialog.getByLabel('Type 1 stop to go on').fill('1 stop');
    await page.keyboard.press('Enter');
    await page.getByRole('article', { name: 'Plan, committed' }).waitFor();
    expect(await statementOf(person)).toBe('SYSTEM_FROZEN');
    await page.getByRole('region', { name: 'Commands of the incident' }).getByText('Tool crm.read').waitFor();

    await note('Acknowledge', 'mine');
    await note('Begin to mitigate', 'on it');
    await page.getByRole('button', { name: 'Resolve' }).press('Enter');
    await typeInto(dialog.getByLabel('Note'), 'over');
    await dialog.getByRole('checkbox', { name: 'freeze tool:crm.read' }).press('Space');
    await dialog.getByRole('button', { name: 'Resolve' }).press('Enter');
    await page.getByText('Resolved. These stops stay: tool:crm.read').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await axeFindings(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(faults).toEqual([]);
  });
});

describe('keys of agents', () => {
  it('are made by an owner with a name of their own, call only the tools that they were made for, and can be ended', async () => {
    const { page, faults } = await personAt('/console/members');
    const section = page.getByRole('region', { name: 'Agent keys', exact: true });
    await section.getByRole('button', { name: 'Make an agent’s key' }).press('Enter');
    await typeInto(page.getByRole('dialog').getByLabel('Principal'), 'researcher');
    await page.getByLabel('Tools (optional)').fill('crm.read');
    await page.keyboard.press('Enter');
    const key = (await page.getByRole('region', { name: 'The agent’s key' }).textContent()) ?? '';
    expect(await axeFindings(page)).toEqual([]);
    const evaluate = async (tool: string) => {
      const response = await fetch(new URL('/api/v1/evaluate', desk.system.gateway.url), {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ action: 'tool.call', tool, effect_level: 'E1', session_id: `by-${tool}` }),
      });
      const { verdict } = (await response.json()) as { verdict?: string };
      return [response.status, verdict];
    };
    expect([await evaluate('crm.read'), await evaluate('crm.write')]).toEqual([
      [200, 'ALLOW'],
      [200, 'DENY'],
    ]);
    await page.keyboard.press('Escape');
    await page.reload();
    await section.getByRole('row', { name: 'researcher' }).waitFor();
    expect(await page.content()).not.toContain(key);
    await section.getByRole('button', { name: 'Revoke the key of researcher' }).press('Enter');
    await pressOnceFocused(page.getByRole('button', { name: 'Revoke key' }));
    await section.getByText('ended').waitFor();
    expect(await evaluate('crm.read')).not.toEqual([200, 'ALLOW']);
    expect(faults).toEqual([]);
  });
});
