import { approvalCalled } from './_approval.ts';
import { at, stage } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { fireEvent, screen, within } from '@testing-library/react';
import { listConsoleTools } from '@countersign/contracts/control-plane';
import {
  disableMcpServer,
  getMcpServer,
  listMcpServers,
  registerMcpServer,
  requestMcpServerApproval,
  scanMcpServer,
} from '@countersign/contracts/governance-kernel';
import { documentOf } from '../src/tools/add-server.tsx';
import { Servers } from '../src/tools/servers.tsx';
import { ToolDrawer } from '../src/tools/tool-drawer.tsx';
import { ToolsPage } from '../src/tools/tools-page.tsx';

const definition = { name: 'read_note', description: 'Reads a note.', inputSchema: { type: 'object' } };
const hostile = 'Reads a note. <img src=x onerror="alert(1)">\u202e';
const shownHostile = 'Reads a note. <img src=x onerror=\\"alert(1)\\">⟨U+202E⟩';
const drifted = {
  ...{ tool: 'notes.read_note', server_id: 'notes', server_state: 'approved', pin: 'drifted', blocked: false },
  ...{ annotated_effect: 'E1', effect_level: 'E1', definition },
  ...{ pinned_hash: `sha256:${'0'.repeat(64)}`, observed_hash: `sha256:${'1'.repeat(64)}` },
  observed_definition: { ...definition, description: hostile },
};

describe('a tool that its server has changed', () => {
  it('is marked in the list, and an unchanged tool is not', async () => {
    const { peer, show } = stage();
    const same = { ...drifted, tool: 'notes.write_note', pin: 'in_sync', observed_definition: null };
    peer.answers(listConsoleTools, { data: [drifted, same], next_cursor: null });
    peer.answers(listMcpServers, { data: [], next_cursor: null });
    show(<ToolsPage />);
    const row = within(await screen.findByRole('row', { name: /read_note/ }));
    expect(row.getByText('changed')).toBeTruthy();
    expect(within(screen.getByRole('row', { name: /write_note/ })).getByText('as approved')).toBeTruthy();
  });

  it('shows only what changed, as plain text', async () => {
    stage().show(<ToolDrawer tool={drifted as never} onClose={() => undefined} />); // lists are parsed when they are read
    const changed = within(await screen.findByRole('region', { name: 'What has changed' }));
    expect(changed.getAllByRole('heading', { level: 4 }).map(({ textContent }) => textContent)).toEqual([
      'description',
    ]);
    expect(changed.getByRole('region', { name: 'Approved: description' }).textContent).toContain('Reads a note.');
    expect(changed.getByRole('region', { name: 'Current: description' }).textContent).toContain(shownHostile);
    expect(document.querySelector('img')).toBeNull();
  });
});

const approved = {
  ...{
    server_id: 'ledger',
    owner: 'tenant',
    transport: 'http',
    config: { url: 'https://ledger.example', address_digest: '0123456789ab' },
  },
  ...{
    state: 'approved',
    reason: null,
    not_connected: null,
    health: null,
    registered_by: 'ada',
    created_at: at,
    updated_at: at,
  },
  ...{ approved_by: 'ada', approved_at: at, approval_receipt_id: null, expires_at: null },
  ...{ revoked_by: null, revoked_at: null },
};
const quarantined = { ...approved, server_id: 'notes', state: 'quarantined', approved_by: null, approved_at: null };
const changedTool = {
  ...{ name: 'post_entry', pin: 'drifted', annotated_effect: 'E2', definition, renamed_from: null },
  ...{ earlier_hash: null, earlier_diff: [] },
  ...{ pinned_hash: drifted.pinned_hash, observed_hash: drifted.observed_hash },
  diff: [{ path: 'description', before: '"Posts."', after: JSON.stringify(hostile) }],
};
const detailOf = (server: object, tools: object[] = []) => ({
  ...{ ...server, tools, hidden_tools: [], definitions_hash: null, approval: null, approval_request: null },
});
const finding = {
  ...{ kind: 'model_instruction', severity: 'high', rule: 'orders', tool: 'post_entry', member: 'description' },
  ...{ detail: 'Text that addresses the model', excerpt: 'Before posting, send' },
};

describe('the servers', () => {
  function atServers(role: 'owner' | 'member' = 'owner') {
    const here = stage();
    here.peer.answers(listMcpServers, { data: [approved, quarantined], next_cursor: null });
    here.peer.answers(getMcpServer, detailOf(quarantined));
    return { ...here, open: (opened?: string) => here.show(<Servers opened={opened} />, { role, path: '/tools' }) };
  }

  it('are listed with the quarantined one first, whose details are shown', async () => {
    const { open, peer } = atServers();
    open();
    const list = within(await screen.findByRole('list', { name: 'List of servers' }));
    expect(list.getAllByRole('link').map(({ textContent }) => textContent)).toEqual(['notes', 'ledger']);
    await screen.findByText('Its tools can be seen, and not called, until the server is approved.');
    expect(peer.requests(getMcpServer).map(({ params }) => params['server_id'])).toEqual(['notes']);
  });

  it('show what a server changed, as plain text', async () => {
    const { open, peer } = atServers();
    peer.answers(getMcpServer, detailOf(approved, [changedTool]));
    open('ledger');
    await screen.findByText('1 tool changed since the approval. Calls are blocked.');
    expect(screen.getByRole('region', { name: 'Current' }).textContent).toContain('⟨U+202E⟩');
    expect(screen.getByRole('region', { name: 'Approved' }).textContent).toContain('Posts.');
    expect(document.querySelector('img')).toBeNull();
  });

  it('are scanned by an owner, who sees each finding in words', async () => {
    const { open, peer, user } = atServers();
    const report = { server_id: 'notes', state: 'quarantined', problem: null, tool_count: 1, hidden_tools: [] };
    const found = { risk: 'high', findings: [finding], definitions_hash: null, rules_version: '1', scanned_at: at };
    peer.answers(scanMcpServer, { reports: [{ ...report, ...found }] });
    open();
    await user.click(await screen.findByRole('button', { name: 'Scan now' }));
    await screen.findByText('Gives the agent orders');
    expect(peer.requests(scanMcpServer)[0]?.body).toEqual({ server_id: 'notes' });
  });

  it('are added by URL, and shown in quarantine with their findings', async () => {
    const { open, peer, user } = atServers();
    peer.answers(registerMcpServer, { servers: [{ ...detailOf(quarantined), problem: null, findings: [finding] }] });
    open();
    await user.click(await screen.findByRole('button', { name: 'Add server' }));
    await user.type(await screen.findByLabelText('Name'), 'notes');
    await user.type(screen.getByLabelText('URL or JSON'), 'https://notes.example/mcp');
    await user.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Add server' }));
    await screen.findByText(/is added, in quarantine/);
    expect(peer.requests(registerMcpServer)[0]?.body).toEqual({ server_id: 'notes', url: 'https://notes.example/mcp' });
  });

  const open = {
    ...detailOf(quarantined),
    definitions_hash: drifted.observed_hash,
    approval: { action: 'mcp.server.approve', resource: `mcp_server:notes?definitions=${drifted.observed_hash}` },
  };
  const requested = { approval_id: 'apr_01J00000000000000000000000', expires_at: at, server_expires_at: null };

  it('are approved by a request that names exactly the shown definitions', async () => {
    const { open: show, peer, user } = atServers();
    peer.answers(getMcpServer, open);
    peer.answers(requestMcpServerApproval, approvalCalled(1));
    show();
    await user.type(await screen.findByLabelText(/Why should agents use this server/), ' the team writes notes ');
    peer.answers(getMcpServer, { ...open, approval_request: { ...requested, state: 'pending' } });
    await user.click(screen.getByRole('button', { name: 'Request approval' }));
    expect(await screen.findByRole('link', { name: 'Decide it in the inbox' })).toBeDefined();
    expect(peer.requests(requestMcpServerApproval)[0]?.body).toEqual({
      definitions_hash: drifted.observed_hash,
      reason: 'the team writes notes',
    });
  });

  it('are approved until the time that the request names', async () => {
    const { open: show, peer, user } = atServers();
    peer.answers(getMcpServer, open);
    peer.answers(requestMcpServerApproval, approvalCalled(1));
    show();
    await user.type(await screen.findByLabelText(/Why should agents use this server/), 'a trial');
    fireEvent.change(screen.getByLabelText('Approved until'), { target: { value: '2031-05-06T07:08' } });
    const end = new Date('2031-05-06T07:08').toISOString();
    peer.answers(getMcpServer, {
      ...open,
      approval_request: { ...requested, state: 'pending', server_expires_at: end },
    });
    await user.click(screen.getByRole('button', { name: 'Request approval' }));
    expect((await screen.findByText(/Approval requested/)).textContent).toContain('until');
    expect(peer.requests(requestMcpServerApproval)[0]?.body).toMatchObject({ reason: 'a trial', expires_at: end });
  });

  it.each([
    [
      'the request was approved',
      'owner',
      { approval_request: { ...requested, state: 'approved' } },
      /lists the tools once more/,
    ],
    ['the operator declared the server', 'owner', { owner: 'installation' }, /How the operator accepts/],
  ] as const)('have no request button when %s', async (_where, role, more, text) => {
    const { open: show, peer } = atServers(role);
    peer.answers(getMcpServer, { ...open, ...more });
    show();
    await screen.findByText(text);
    expect(screen.queryByRole('button', { name: 'Request approval' })).toBeNull();
  });

  it('are revoked with a reason', async () => {
    const { open: show, peer, user } = atServers();
    peer.answers(getMcpServer, detailOf(approved));
    peer.answers(disableMcpServer, detailOf({ ...approved, state: 'revoked' }));
    show('ledger');
    await user.click(await screen.findByRole('button', { name: 'Revoke server' }));
    const dialog = within(await screen.findByRole('dialog'));
    const button = dialog.getByRole<HTMLButtonElement>('button', { name: 'Revoke server' });
    expect(button.disabled).toBe(true);
    await user.type(dialog.getByLabelText(/Reason/), ' not needed ');
    peer.answers(getMcpServer, detailOf({ ...approved, state: 'revoked' }));
    await user.click(button);
    await screen.findByText(/denied until it is approved again/);
    expect(peer.requests(disableMcpServer)).toMatchObject([
      { params: { server_id: 'ledger' }, body: { reason: 'not needed' } },
    ]);
    expect(screen.queryByRole('button', { name: 'Revoke server' })).toBeNull();
  });

  it.each([
    ['a member', 'member', approved],
    ['anyone, if the operator declared the server', 'owner', { ...approved, owner: 'installation' }],
    ['anyone, if the server is already revoked', 'owner', { ...approved, state: 'revoked' }],
  ] as const)('are not revoked by %s', async (_who, role, server) => {
    const { open: show, peer } = atServers(role);
    peer.answers(getMcpServer, detailOf(server));
    show('ledger');
    await screen.findByText('It has listed no tools.');
    expect(screen.queryByRole('button', { name: 'Revoke server' })).toBeNull();
  });

  it('cannot be added or scanned by a member', async () => {
    atServers('member').open();
    await screen.findByText('Its tools can be seen, and not called, until the server is approved.');
    expect(screen.queryByRole('button', { name: /Add server|Scan now/ })).toBeNull();
  });
});

describe('the text that is pasted to add a server', () => {
  it.each([
    ['https://a.example/mcp', { server_id: 'a', url: 'https://a.example/mcp' }],
    ['{"mcpServers":{"b":{"url":"https://b.example"}}}', { mcpServers: { b: { url: 'https://b.example' } } }],
    ['{"servers":{"c":{"url":"https://c.example"}}}', { servers: { c: { url: 'https://c.example' } } }],
    ['{"name":"d","remotes":[]}', { server_json: { name: 'd', remotes: [] } }],
  ])('is accepted: %s', (text, document) => {
    expect(documentOf(text, text.startsWith('{') ? '' : 'a')).toEqual(document);
  });

  it.each([
    ['{"mcpServers":', /has a fault/],
    ['{"unknown":1}', /This does not describe a server/],
    ['{"url":"https://a.example","command":"npx"}', /must have one of/],
    [`{"a":"${'x'.repeat(100_001)}"}`, /limit 100000/],
  ])('is rejected with what to do: %.40s', (text, sentence) => {
    expect(documentOf(text, '')).toMatch(sentence);
  });
});
