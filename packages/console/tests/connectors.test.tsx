import { at, stage, userId } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { screen, within } from '@testing-library/react';
import type { PersonRole } from '@countersign/contracts';
import {
  approveInstall,
  createShim,
  disableConnector,
  getConnector,
  installConnector,
  listConnectors,
  listInstalls,
  listShims,
  revokeShim,
} from '@countersign/contracts/control-plane';
import { getMcpServer, scanMcpServer } from '@countersign/contracts/governance-kernel';
import { countsOf } from '../src/connectors/capabilities.tsx';
import { ConnectorsPage } from '../src/connectors/connectors-page.tsx';

const [hash, otherHash] = ['0', '1'].map((digit) => `sha256:${digit.repeat(64)}`);
const installId = 'cin_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const hostile = 'Repositories <img src=x onerror="alert(1)">\u202e';

const token = { name: 'Authorization', description: 'Bearer and a token', is_required: true, is_secret: true };
const github = {
  ...{ connector_id: 'github', version: '1.0.0', title: 'GitHub', summary: hostile },
  ...{ url: 'https://api.example/mcp/', headers: [token], server_json_hash: hash, install_id: null },
};
const learn = { ...github, connector_id: 'learn', title: 'Learn', summary: 'Documentation', headers: [] };
const tool = { name: 'read', expected_hash: null, observed_hash: hash, status: 'unknown', diff: [] };
const quarantined = {
  ...{ install_id: installId, connector_id: 'github', version: '1.0.0', server_json_hash: hash },
  ...{ state: 'quarantined', definitions_hash: hash, approval_request: null, drift: [tool] },
  ...{ installed_by: userId, installed_at: at, disabled_by: null, disabled_at: null },
};
const approved = {
  ...quarantined,
  state: 'approved',
  drift: [{ ...tool, expected_hash: hash, status: 'in_sync' }],
};
const request = { approval_id: 'apr_01J00000000000000000000000', expires_at: at, server_expires_at: null };
const report = {
  ...{ server_id: 'github', state: 'quarantined', problem: null, tool_count: 1, hidden_tools: [], risk: 'none' },
  ...{ findings: [], definitions_hash: hash, rules_version: '1', scanned_at: at },
};
const offered = (annotated_effect: string, name = 'read') => ({
  ...{ name, pin: 'unpinned', pinned_hash: null, observed_hash: hash, annotated_effect, definition: null, diff: [] },
  ...{ earlier_hash: null, earlier_diff: [], renamed_from: null },
});
const server = {
  ...{ server_id: 'github', owner: 'tenant', transport: 'http', config: {}, state: 'quarantined', reason: null },
  ...{ not_connected: null, health: null, registered_by: 'ada', created_at: at, updated_at: at },
  ...{ approved_by: null, approved_at: null, approval_receipt_id: null, expires_at: null },
  ...{ revoked_by: null, revoked_at: null, hidden_tools: [], definitions_hash: hash },
  ...{ approval: null, approval_request: null, tools: [offered('E1'), offered('E4', 'delete')] },
};
const page = (data: object[]) => ({ data, next_cursor: null });

function atConnectors(installs: object[] = [], entries: object[] = [github, learn]) {
  const here = stage();
  here.peer.answers(listConnectors, page(entries));
  here.peer.answers(listInstalls, page(installs));
  here.peer.answers(getMcpServer, server);
  here.peer.answers(listShims, page([]));
  const open = (path = '', role: PersonRole = 'owner') =>
    here.show(<ConnectorsPage />, { role, path: `/connectors${path}` });
  return { ...here, open };
}

const cardOf = async (name: string) => {
  const link = await screen.findByRole('link', { name: new RegExp(`(Install|Review|Open) ${name}`) });
  const card = link.closest('li');
  if (card === null) throw new Error(`${name} has no card`);
  return within(card);
};
const currentStep = async (name: string) =>
  await screen.findByText(
    (_, element) => element?.getAttribute('aria-current') === 'step' && element.textContent.includes(name),
  );

describe('the list of connectors', () => {
  it('shows what each installed connector can do, its state and its signer, and hostile text as plain text', async () => {
    const { open } = atConnectors([quarantined]);
    open();
    const card = await cardOf('GitHub');
    await card.findByText('Reads: 1 tool');
    expect(card.getByText('Cannot be undone: 1 tool').className).toContain('mark-wait');
    card.getByText('Quarantined');
    card.getByText(/In the signed catalogue/);
    card.getByText(/⟨U\+202E⟩/);
    expect(document.querySelector('img')).toBeNull();
    (await cardOf('Learn')).getByText('Not installed');
  });

  it.each([
    [{ ...approved, drift: [{ ...tool, expected_hash: hash, status: 'drifted' }] }, '1 tool changed', 'Review'],
    [{ ...approved, version: '0.9.0' }, 'Update available', 'Review'],
    [{ ...approved, state: 'expired' }, 'Expired', 'Review'],
    [{ ...quarantined, state: 'unregistered', drift: [] }, 'Not confirmed', 'Review'],
    [approved, 'Installed', 'Open'],
    [{ ...approved, state: 'revoked', disabled_by: userId, disabled_at: at }, 'Disabled', 'Install'],
  ])('shows an install in one word, and the next step (%#)', async (install, word, act) => {
    const { open } = atConnectors([install]);
    open();
    const card = await cardOf('GitHub');
    card.getByText(word);
    card.getByRole('link', { name: `${act} GitHub` });
  });

  it('finds connectors by text, from the key /, and lists the installed ones alone', async () => {
    const { open, user } = atConnectors([approved]);
    open();
    await cardOf('Learn');
    await user.type(screen.getByLabelText('Find a connector'), 'docu');
    expect(screen.queryByRole('link', { name: 'Open GitHub' })).toBeNull();
    await user.clear(screen.getByLabelText('Find a connector'));
    await user.click(screen.getByRole('link', { name: 'Installed 1' }));
    await cardOf('GitHub');
    expect(screen.queryByRole('link', { name: 'Install Learn' })).toBeNull();
  });

  it('explains an empty catalogue, and how to load one', async () => {
    const { open } = atConnectors([], []);
    open();
    await screen.findByRole('heading', { name: 'No catalogue yet' });
    expect(screen.getByRole('region', { name: 'Command' }).textContent).toContain('make catalogue key=');
  });

  it('offers nothing from an altered catalogue, but still shows what is installed', async () => {
    const { open, peer } = atConnectors([approved]);
    peer.refuses(listConnectors, 'INTEGRITY_FAILED', 'The catalogue of connectors is not signed by a pinned key');
    open();
    await screen.findByRole('heading', { name: 'The catalogue is not used' });
    await screen.findByText(/is not signed by a pinned key/);
    (await cardOf('github')).getByText('No longer in the catalogue');
    expect(screen.queryByRole('link', { name: /^Install / })).toBeNull();
  });

  it('shows the catalogue without states while the kernel is away', async () => {
    const { open, peer } = atConnectors([], [{ ...github, install_id: installId }]);
    peer.refuses(listInstalls, 'GOVERNANCE_UNAVAILABLE');
    open();
    (await cardOf('GitHub')).getByText('Unknown');
  });
});

describe('a connector that is not installed', () => {
  it('is installed with the credentials that it needs, and the page does not keep them', async () => {
    const { open, peer, user } = atConnectors();
    peer.answers(installConnector, quarantined);
    open('/github');
    await currentStep('Credentials');
    const field = await screen.findByLabelText<HTMLInputElement>('Authorization');
    expect([field.type, field.required]).toEqual(['password', true]);
    await user.type(field, 'Bearer secret');
    peer.answers(listInstalls, page([quarantined]));
    await user.click(screen.getByRole('button', { name: 'Install GitHub' }));
    await currentStep('Scan');
    expect(peer.requests(installConnector)).toMatchObject([
      { params: { connector_id: 'github' }, body: { version: '1.0.0', headers: { Authorization: 'Bearer secret' } } },
    ]);
    expect(document.body.innerHTML).not.toContain('secret');
  });

  it('shows why the server refused the install', async () => {
    const { open, peer, user } = atConnectors();
    peer.refuses(installConnector, 'LIMIT_REACHED', 'The plan has 3 connectors');
    open('/learn');
    await user.click(await screen.findByRole('button', { name: 'Install Learn' }));
    await screen.findByText('The plan has 3 connectors');
  });

  it('cannot be installed by a member, who sees the steps', async () => {
    atConnectors().open('/github', 'member');
    await screen.findByText('Only owners can install and approve connectors.');
    expect(screen.queryByRole('button', { name: /Install/ })).toBeNull();
  });

  it('shows its signed server.json when it is opened', async () => {
    const { open, peer, user } = atConnectors();
    peer.answers(getConnector, { ...github, server_json: { name: 'io.example/github' } });
    open('/github');
    await user.click(await screen.findByText('Signed server.json'));
    expect((await screen.findByRole('region', { name: 'server.json' })).textContent).toContain('io.example/github');
  });

  it('does not exist under an unknown name', async () => {
    atConnectors().open('/nobodys');
    await screen.findByRole('heading', { name: 'No connector has this name' });
  });
});

describe('a connector in quarantine', () => {
  async function atScan(scanned: object = report) {
    const here = atConnectors([quarantined]);
    here.peer.answers(scanMcpServer, { reports: [scanned] });
    here.open('/github');
    await currentStep('Scan');
    expect(screen.queryByRole('button', { name: 'Approve connector' })).toBeNull();
    await here.user.click(await screen.findByRole('button', { name: 'Scan tools' }));
    return here;
  }

  async function approving() {
    const here = await atScan();
    await here.user.type(await screen.findByLabelText(/Why should agents use this connector/), ' it was read ');
    return { ...here, approve: () => here.user.click(screen.getByRole('button', { name: 'Approve connector' })) };
  }

  it('is approved after a scan, with exactly the scanned definitions', async () => {
    const { peer, approve } = await approving();
    peer.answers(approveInstall, approved);
    peer.answers(listInstalls, page([approved]));
    await approve();
    await screen.findByText('Installed');
    expect(peer.requests(approveInstall)).toMatchObject([
      { params: { install_id: installId }, body: { definitions_hash: hash, reason: 'it was read' } },
    ]);
    expect(screen.queryByRole('list', { name: 'Steps to use it' })).toBeNull();
  });

  it('waits in the inbox when another person or a passkey must vote', async () => {
    const { peer, approve } = await approving();
    peer.refuses(approveInstall, 'APPROVAL_NEEDED');
    peer.answers(listInstalls, page([{ ...quarantined, approval_request: { ...request, state: 'pending' } }]));
    await approve();
    const link = await screen.findByRole('link', { name: 'Decide it in the inbox' });
    expect(link.getAttribute('href')).toBe(`/console/inbox/${request.approval_id}`);
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('shows a refusal by a rule', async () => {
    const { peer, approve } = await approving();
    peer.refuses(approveInstall, 'POLICY_DENIED', 'Owners read it first');
    await approve();
    await screen.findByText('Owners read it first');
  });

  it('cannot be approved while the scan read other tools than the kernel recorded', async () => {
    await atScan({ ...report, definitions_hash: otherHash });
    await screen.findByText(/lists other tools now/);
    expect(screen.queryByRole('button', { name: 'Approve connector' })).toBeNull();
  });

  it('cannot be approved when its tools could not be listed', async () => {
    await atScan({ ...report, problem: 'no answer', definitions_hash: null, risk: 'unknown' });
    await screen.findByText(/no answer/);
    expect(screen.queryByRole('button', { name: 'Approve connector' })).toBeNull();
  });
});

describe('an installed connector', () => {
  it('is disabled with a reason', async () => {
    const { open, peer, user } = atConnectors([approved]);
    const disabled = { ...approved, state: 'revoked', disabled_by: userId, disabled_at: at };
    peer.answers(disableConnector, disabled);
    open('/github');
    await user.click(await screen.findByRole('button', { name: 'Disable connector' }));
    const dialog = within(await screen.findByRole('dialog'));
    const button = dialog.getByRole<HTMLButtonElement>('button', { name: 'Disable connector' });
    expect(button.disabled).toBe(true);
    await user.type(dialog.getByLabelText(/Reason/), ' not needed ');
    peer.answers(listInstalls, page([disabled]));
    await user.click(button);
    await screen.findByText('Disabled');
    expect(peer.requests(disableConnector)).toMatchObject([
      { params: { connector_id: 'github' }, body: { reason: 'not needed' } },
    ]);
  });

  it('is not disabled by a member', async () => {
    atConnectors([approved]).open('/github', 'member');
    await screen.findByText('Installed');
    expect(screen.queryByRole('button', { name: 'Disable connector' })).toBeNull();
  });

  it('is updated to the version of the catalogue', async () => {
    const { open, peer, user } = atConnectors([{ ...approved, connector_id: 'learn', version: '0.9.0' }]);
    peer.answers(installConnector, { ...approved, connector_id: 'learn' });
    open('/learn');
    const update = await screen.findByRole('button', { name: 'Update Learn' });
    peer.answers(listInstalls, page([{ ...approved, connector_id: 'learn' }]));
    await user.click(update);
    await screen.findByText('Installed');
    expect(peer.requests(installConnector)[0]?.body).toEqual({ version: '1.0.0', headers: {} });
  });

  it('gives a client its own credential once, and revokes it', async () => {
    const { open, peer, user } = atConnectors([approved]);
    const shim = {
      ...{ shim_id: 'shm_01ARZ3NDEKTSV4RRFFQ69G5FAV', install_id: installId, connector_id: 'github' },
      ...{ client: 'editor', state: 'issued', principal_id: 'shim:1', key_id: null, receipt_id: null },
      ...{ created_by: userId, created_at: at, expires_at: at, revoked_by: null, revoked_at: null },
    };
    const configuration = { mcpServers: { github: { type: 'http', url: 'https://g.example', headers: {} } } };
    peer.answers(createShim, {
      ...shim,
      tools: ['github.read'],
      credential: 'agk_1',
      client_configuration: configuration,
    });
    peer.answers(revokeShim, { ...shim, state: 'revoked', revoked_by: userId, revoked_at: at });
    open('/github');
    await user.click(await screen.findByRole('button', { name: 'Create credential' }));
    const dialog = within(await screen.findByRole('dialog'));
    await user.type(dialog.getByLabelText('Client'), 'editor');
    peer.answers(listShims, page([shim]));
    await user.click(dialog.getByRole('button', { name: 'Create credential' }));
    const shown = await dialog.findByRole('region', { name: 'Configuration of the client' });
    expect(shown.textContent).toContain('https://g.example');
    await user.keyboard('{Escape}');
    await user.click(await screen.findByRole('button', { name: 'Revoke the credential of editor' }));
    await user.click(within(await screen.findByRole('dialog')).getByRole('button', { name: 'Revoke credential' }));
    expect(peer.requests(revokeShim)).toMatchObject([{ params: { install_id: installId, shim_id: shim.shim_id } }]);
  });
});

describe('the capabilities of tools', () => {
  it('are counted by effect, and tools without an effect are harmless', () => {
    const tools = (['E0', 'E1', 'E2', 'E3', 'E3'] as const).map((effect) => ({ annotated_effect: effect }));
    expect(countsOf(tools).map(([{ word, tone }, count]) => [word, tone, count])).toEqual([
      ['Reads', 'plain', 2],
      ['Writes', 'plain', 1],
      ['Hard to undo', 'wait', 2],
    ]);
  });
});
