import { at, stage, workspaceId } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { screen, within } from '@testing-library/react';
import { createBlastRadius, freezeTarget, listOpsTargets } from '@countersign/contracts/control-plane';
import {
  getDecisionStats,
  getSeenAgent,
  listAccessKeys,
  listBudgets,
  listReceipts,
  listSeenAgents,
} from '@countersign/contracts/governance-kernel';
import { AgentsPage } from '../src/agents/agents-page.tsx';

const hostile = 'clerk<img src=x>\u202e';
const hash = `sha256:${'0'.repeat(64)}`;
const none = { allowed: 0, denied: 0, needed_approval: 0 };
const clerk = {
  ...{ principal_id: 'invoice-clerk', display_name: 'Invoice clerk', state: 'active', stop: null },
  ...{ enrolled_at: at, enrolled_by: 'ada', live_keys: 2, last_call_at: at, pending_approvals: 1 },
  ...{ day: { allowed: 1_467, denied: 104, needed_approval: 0 }, week: { ...none, allowed: 7_000 } },
};
const unknown = {
  ...{ ...clerk, principal_id: hostile, display_name: null, enrolled_at: null, enrolled_by: null },
  ...{ live_keys: 0, last_call_at: null, pending_approvals: 0, day: none, week: none },
};
const stop = {
  ...{ scope: 'agent:acme/invoice-clerk', kind: 'freeze', epoch: 3, reason: 'it loops', set_by: 'ada' },
  ...{ call_limit: null, window_seconds: null, expires_at: null, effective_at: at, calls_taken: null },
};
const approvals = { requested: 13, approved: 11, denied: 1, expired: 1 };
const stats = {
  ...{ bucket: '1d', buckets: [at], others: null, total: 141, tree_size: 9, complete_to: null },
  series: [{ key: 'ledger.post_entry', total: 141, counts: [141] }],
};
const radius = {
  ...{ type: 'countersign.blast-radius.v1', tenant_id: workspaceId, tree_size: 9, root_hash: hash, from: at },
  steps: [{ kind: 'freeze', target: 'agent:invoice-clerk' }],
  ...{ receipts: 9, is_whole: true, unverifiable: 0, more_relations: false, reversibility: 'whole' },
  affected: {
    ...{ agents: ['invoice-clerk'], tools: ['ledger.post_entry'], connectors: [], sessions: [], runs: [] },
    ...{ approvals: [], dispatches: [], relations: [] },
  },
  ...{ denials: { count: 0, first: [] }, radius_hash: hash },
};

type Opened = { agent?: object; role?: 'owner' | 'member' };

function open({ agent = clerk, role = 'owner' }: Opened = {}) {
  const { peer, show, user } = stage();
  peer.answers(getSeenAgent, { ...agent, approvals, complete_to: null });
  peer.answers(getDecisionStats, stats);
  peer.answers(listBudgets, { data: [], next_cursor: null });
  peer.answers(listReceipts, { data: [], next_cursor: null });
  peer.answers(listAccessKeys, { data: [], next_cursor: null });
  peer.answers(createBlastRadius, radius);
  peer.answers(listOpsTargets, { agents: [], tools: [], servers: [], calls_last_7d: 0, is_whole: true });
  show(<AgentsPage />, { path: '/agents/invoice-clerk', role });
  return { peer, user };
}

describe('the list of agents', () => {
  it('has one row for each agent with its state and calls, and shows a hostile name as text', async () => {
    const { peer, show } = stage();
    peer.answers(listSeenAgents, { data: [clerk, unknown], has_more: true, complete_to: null });
    peer.answers(getDecisionStats, stats);
    show(<AgentsPage />);
    const row = within(await screen.findByRole('row', { name: /Invoice clerk/ }));
    expect(row.getAllByRole('cell').map(({ textContent }) => textContent)).toEqual(
      expect.arrayContaining(['Active', '1,571', '104']),
    );
    expect(row.getByRole('link').getAttribute('href')).toBe(`/console/agents/invoice-clerk?workspace=${workspaceId}`);
    expect(screen.getByText('clerk<img src=x>⟨U+202E⟩')).toBeTruthy();
    expect(document.querySelector('img')).toBeNull();
    expect(screen.getByText(/More agents exist/)).toBeTruthy();
  });

  it('offers a first call while it is empty', async () => {
    const { peer, show } = stage();
    peer.answers(listSeenAgents, { data: [], has_more: false, complete_to: null });
    show(<AgentsPage />);
    expect(await screen.findByRole('button', { name: 'Copy the command' })).toBeTruthy();
  });
});

describe('the page of an agent', () => {
  it('shows the tools of the agent, its approvals and the number of its keys', async () => {
    open();
    await screen.findByRole('heading', { name: 'Invoice clerk', level: 1 });
    expect((await screen.findByRole('link', { name: /^Approvals in 7 days/ })).textContent).toContain(
      '11 approved, 1 denied, 1 expired',
    );
    expect(screen.getByRole('link', { name: /^Denied/ }).textContent).toContain('6.6 %');
    const tools = within(screen.getByRole('region', { name: 'Tools it used' }));
    expect((await tools.findByRole('link', { name: 'ledger.post_entry' })).getAttribute('href')).toContain(
      'agent=invoice-clerk',
    );
  });

  it('stops only this agent, with one reason', async () => {
    const { peer, user } = open();
    const values = {
      ...{ command_id: 'cmd_01ARZ3NDEKTSV4RRFFQ69G5FAV', kind: 'freeze', target: 'agent:invoice-clerk', epoch: 4 },
      ...{ reason: 'it loops', limit: null, window_seconds: null, state: 'effective' },
      ...{ given_at: at, given_by: 'usr_ada', effective_at: at, expires_at: null, incident_id: null },
      ...{ receipt_id: null, parked_runs: [], open_dispatches: [], more_open_dispatches: false },
      ...{ known: true, calls_last_7d: 7_000 },
    };
    peer.answers(freezeTarget, values);
    await user.click(await screen.findByRole('button', { name: 'Stop agent' }));
    await user.type(await screen.findByLabelText(/^Why/), 'it loops');
    await user.click(screen.getByRole('button', { name: 'Freeze it' }));
    await screen.findByRole('heading', { name: /Freeze in force/ });
    expect(peer.requests(freezeTarget)[0]?.body).toMatchObject({ target: 'agent:invoice-clerk', reason: 'it loops' });
  });

  it('shows why and since when an agent is stopped', async () => {
    open({ agent: { ...clerk, state: 'stopped', stop } });
    expect((await screen.findByRole('region', { name: 'Stop' })).textContent).toMatch(
      /^Every call is denied since .*: it loops$/,
    );
  });

  it('hides stops and keys from a member who may not use them', async () => {
    const { peer } = open({ role: 'member' });
    await screen.findByText('2 keys are active. Owners see the keys.');
    expect(screen.getByText('Only partners and owners can stop an agent.')).toBeTruthy();
    expect(peer.requests(listAccessKeys)).toEqual([]);
  });
});
