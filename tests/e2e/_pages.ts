import { execFileSync } from 'node:child_process';
import type { Keyboard } from './_keyboard.ts';
import type { Person } from './_signed-in.ts';

/** A person at a page of the console, with a browser and a token. */
export type AtPage = { keys: Keyboard; person: Person };
type Way = (at: AtPage) => Promise<void>;

export type PageCase = {
  /** The heading of the page. */
  title: string;
  path: string;
  /** Does what the empty page offers. Absent for a page that is never empty. */
  empty?: Way;
  /** Does the main action of the page. */
  act: Way;
};

/** Pages about the work of agents. The first receipt ends their empty states, so each page needs its own workspace. */
const ofAgents: readonly PageCase[] = [
  { title: 'Overview', path: 'overview', empty: runsItsCommand, act: foundsAnOrg },
  { title: 'Inbox', path: 'inbox', empty: runsItsCommand, act: approves },
  { title: 'Activity', path: 'activity', empty: runsItsCommand, act: verifiesTheNewest },
  { title: 'Runs', path: 'runs', empty: startsTheSample, act: startsARun },
  { title: 'Agents', path: 'agents', empty: runsItsCommand, act: opensAnAgent },
  { title: 'Tools', path: 'tools', act: opensATool },
  // The system signs a catalogue with the shipped connectors, so the page is never empty.
  { title: 'Connectors', path: 'connectors', act: opensAConnector },
];

/** Pages that control agents. None changes the content of another, so they share one workspace. */
const ofControls: readonly PageCase[] = [
  {
    title: 'Stops and incidents',
    path: 'incidents',
    empty: async (at) => {
      await throttlesATool(at);
      await drills(at);
    },
    act: async (at) => {
      await freezes(at);
      await reports(at);
    },
  },
  // The settings of a new workspace bring a monthly ceiling to the kernel, so the page is never empty.
  { title: 'Budgets', path: 'budgets', act: changesTheCeiling },
  { title: 'Policy', path: 'policy', empty: beginsADraft, act: triesTheDraft },
];

/** Pages about the workspace and its people. These pages share one workspace. */
const ofPeople: readonly PageCase[] = [
  { title: 'Audit', path: 'audit', act: narrowsTheEntries },
  { title: 'Members and keys', path: 'members', empty: makesAKey, act: invites },
  { title: 'Settings', path: 'settings', act: renames },
  { title: 'You', path: 'you', empty: enrolsAPasskey, act: endsThePasskey },
];

/** Pages about the organisation that owns the workspace. They share one organisation. */
const ofOrganisations: readonly PageCase[] = [
  { title: 'Compliance', path: 'compliance', empty: makesAReport, act: opensAControl },
  { title: 'Provisioning', path: 'provisioning', empty: addsADomain, act: createsAScimToken },
  { title: 'Billing and usage', path: 'billing', empty: subscribes, act: setsAnAlert },
];

/** Every page in the navigation of a signed-in person, in its order. A test file checks each group. */
export const pageGroups = { ofAgents, ofControls, ofPeople, ofOrganisations };

/** Runs the command that the page shows at a terminal, with a key of the workspace. */
async function runsItsCommand({ keys, person }: AtPage): Promise<void> {
  const command = keys.page.getByRole('region', { name: 'Command' });
  await keys.to(command);
  const { key } = (await person.client.createApiKey({ body: { name: 'agent' } as never })).body; // the schema adds defaults
  const printed = execFileSync('sh', ['-c', (await command.textContent()) ?? ''], {
    env: { ...process.env, WORKSPACE_KEY: key },
    encoding: 'utf8',
  });
  if (!printed.includes('receipt_id')) throw new Error(`The command of the empty page was answered ${printed}`);
  await command.waitFor({ state: 'detached' });
}

async function foundsAnOrg({ keys }: AtPage): Promise<void> {
  await keys.fill('Name of the organisation', 'Acme');
  await keys.press('Enter');
  await keys.page.getByRole('textbox', { name: 'Name of the organisation' }).waitFor({ state: 'detached' });
}

async function approves({ keys }: AtPage): Promise<void> {
  await keys.press('a');
  await keys.dialog.getByRole('textbox', { name: 'Reason (optional)' }).and(keys.page.locator(':focus')).waitFor();
  await keys.press('Control+Enter');
  await keys.sees('mail.send: Approved');
}

async function startsTheSample({ keys }: AtPage): Promise<void> {
  await keys.use('Start the sample task');
  await keys.use('Start', keys.dialog);
  await keys.page.getByRole('heading', { name: 'A letter', level: 1 }).waitFor();
  await keys.press('g', 'r');
  await keys.page.getByRole('link', { name: 'A letter' }).waitFor();
}

async function startsARun({ keys }: AtPage): Promise<void> {
  await keys.press('n');
  await keys.fill('Title', 'Another letter');
  await keys.fill('Instructions', 'call:files__write_file {"path":"another.md","content":"Dear customer"}');
  await keys.use('Start', keys.dialog);
  await keys.page.getByRole('article', { name: 'Step 2' }).getByText('Needs approval').waitFor();
}

async function verifiesTheNewest({ keys }: AtPage): Promise<void> {
  await keys.press('v');
  await keys.sees('Verified in this browser');
}

async function opensAnAgent({ keys }: AtPage): Promise<void> {
  await keys.enter(keys.page.locator('main [data-id]').getByRole('link').first());
  await keys.page.getByRole('region', { name: 'Tools it used' }).getByRole('link').first().waitFor();
}

async function opensATool({ keys }: AtPage): Promise<void> {
  await keys.enter(keys.page.getByRole('link', { name: 'files.write_file' }));
  await keys.dialog.getByRole('region', { name: 'Approved definition' }).waitFor();
}

async function opensAConnector({ keys }: AtPage): Promise<void> {
  await keys.press('/');
  await keys.type('learn');
  await keys.enter(keys.page.getByRole('link', { name: 'Install Microsoft Learn' }));
  await keys.page.getByRole('button', { name: 'Install Microsoft Learn' }).waitFor();
}

async function throttlesATool({ keys }: AtPage): Promise<void> {
  await keys.use('Try it: slow down an unused tool');
  await keys.fill('Why', 'to see it');
  await keys.fill('Name of the tool', 'nobody.calls');
  await keys.press('Enter');
  await keys.sees('Throttle in force');
}

async function freezes({ keys }: AtPage): Promise<void> {
  await keys.press('f');
  await keys.fill('Why', 'the vault leaks');
  await keys.press('Enter');
  await keys.sees('Freeze in force');
}

async function drills(at: AtPage): Promise<void> {
  await at.keys.use('Report a drill');
  await reportsAs(at, 'A drill');
  await at.keys.page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link').press('Enter');
}

async function reports(at: AtPage): Promise<void> {
  await at.keys.page.getByRole('link', { name: 'A drill' }).waitFor();
  await at.keys.press('n');
  await reportsAs(at, 'It reads everything');
}

async function reportsAs({ keys }: AtPage, title: string): Promise<void> {
  await keys.fill('Title', title);
  await keys.fill('What is known', 'Seen by night');
  await keys.use('Report incident', keys.dialog);
  await keys.page.getByRole('heading', { name: title, level: 1 }).waitFor();
}

async function changesTheCeiling({ keys }: AtPage): Promise<void> {
  await keys.press('s');
  await keys.fill('Ceiling for a calendar month', '99');
  await keys.press('Enter');
  await keys.sees('$99.00');
}

async function beginsADraft({ keys }: AtPage): Promise<void> {
  await keys.use('Start from the active rules');
  await keys.page.getByRole('textbox', { name: 'Text of the draft' }).waitFor();
}

/** Uses the shortcut that compiles, since Tab has its own meaning in a code field. */
async function triesTheDraft({ keys }: AtPage): Promise<void> {
  await keys.to(keys.page.getByRole('textbox', { name: 'Text of the draft' }));
  await keys.press('Control+Enter');
  await keys.page.getByText('compiles', { exact: true }).waitFor();
}

async function narrowsTheEntries({ keys }: AtPage): Promise<void> {
  await keys.to(keys.page.getByLabel('Decision'));
  await keys.press('d');
  await keys.use('Show all of them');
  await keys.page.getByRole('region', { name: 'Entries' }).waitFor();
}

async function makesAKey({ keys }: AtPage): Promise<void> {
  await keys.use('Make a key');
  await keys.fill('Name', 'crawler');
  await keys.press('Enter');
  await keys.page.getByRole('region', { name: 'The key', exact: true }).waitFor();
  await keys.press('Escape');
  await keys.page.getByRole('row', { name: 'crawler' }).waitFor();
}

async function invites({ keys }: AtPage): Promise<void> {
  await keys.press('n');
  await keys.fill('E-mail address', 'colleague@example.org');
  await keys.press('Enter');
  await keys.page.getByRole('region', { name: 'Invite link' }).waitFor();
  await keys.press('Escape');
  await keys.page.getByRole('region', { name: 'Open invites' }).getByText('colleague@example.org').waitFor();
}

async function renames({ keys }: AtPage): Promise<void> {
  await keys.fill('New name', 'Vault');
  await keys.press('Enter');
  await keys.page.getByRole('definition').getByText('Vault').waitFor();
}

async function enrolsAPasskey({ keys }: AtPage): Promise<void> {
  await keys.use('Enrol a passkey');
  await keys.sees('The passkey is enrolled');
}

async function endsThePasskey({ keys }: AtPage): Promise<void> {
  await keys.use('End', keys.page.getByRole('region', { name: 'Your passkeys' }));
  await keys.use('End passkey', keys.dialog);
  await keys.sees('No passkeys yet');
}

async function makesAReport({ keys }: AtPage): Promise<void> {
  await keys.use('Make a report');
  await keys.use('Make a report', keys.dialog);
  await keys.page.getByRole('link', { name: 'Download OSCAL' }).waitFor();
}

async function opensAControl({ keys }: AtPage): Promise<void> {
  await keys.enter(keys.page.locator('summary').filter({ hasText: 'CC6.1' }));
  await keys.page.getByText('Asks for').filter({ visible: true }).waitFor();
}

async function addsADomain({ keys }: AtPage): Promise<void> {
  await keys.press('n');
  await keys.page.getByRole('textbox', { name: 'Domain' }).and(keys.page.locator(':focus')).waitFor();
  await keys.type('acme.example');
  await keys.press('Enter');
  await keys.page.getByRole('row', { name: 'acme.example' }).getByText('Waiting for DNS').waitFor();
}

async function createsAScimToken({ keys }: AtPage): Promise<void> {
  await keys.use('Create SCIM token');
  await keys.dialog.getByRole('textbox', { name: 'Name' }).and(keys.page.locator(':focus')).waitFor();
  await keys.type('Okta');
  await keys.press('Enter');
  await keys.page.getByRole('region', { name: 'The token', exact: true }).waitFor();
  await keys.press('Escape');
  await keys.page.getByRole('row', { name: 'Okta' }).waitFor();
}

/**
 * The page of a self-hosted installation offers no plan, so the plan is chosen by a request. The page of an
 * installation that sells plans has a form for this.
 */
async function subscribes({ keys, person }: AtPage): Promise<void> {
  const { org_id: org } = (
    await person.tab.send('/api/bootstrap', { headers: { 'x-workspace-id': person.workspaceId } })
  ).body['org'] as { org_id: string }; // the contract of getBootstrap
  const body = { plan: { plan_id: 'team', plan_version: 1 } };
  await person.tab.send(`/api/billing/tenants/${org}/subscription`, { method: 'PUT', body });
  await keys.page.reload();
  await keys.page.getByRole('region', { name: 'Plan' }).getByText('€49.00').waitFor();
}

async function setsAnAlert({ keys }: AtPage): Promise<void> {
  await keys.fill('Amount per period in EUR', '250.00');
  await keys.press('Enter');
  await keys.sees('Set to €250.00.');
}
