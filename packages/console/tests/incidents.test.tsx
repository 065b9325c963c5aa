import { at, stage, userId, workspaceId } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { act, screen, waitFor, within } from '@testing-library/react';
import {
  commitPlan,
  getIncident,
  getOps,
  listIncidents,
  resumeTarget,
  transitionIncident,
} from '@countersign/contracts/control-plane';
import { IncidentDetail } from '../src/incidents/incident-detail.tsx';
import { IncidentsPage } from '../src/incidents/incidents-page.tsx';

const id = 'inc_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const hash = `sha256:${'0'.repeat(64)}`;
const open = {
  ...{ incident_id: id, workspace_id: workspaceId, title: 'A leak', severity: 'low', category: 'conduct' },
  ...{ dedup_key: 'leak', state: 'open', recurrence: 1, owner: null, opened_by: 'ada', opened_at: at },
  ...{ last_seen_at: at, updated_at: at, timeline: [], receipts: [], commands: [], plans: [], standing: [] },
};
const mitigating = {
  ...open,
  state: 'mitigating',
  standing: [{ target: 'tool:crm.read', kind: 'freeze', command_id: 'cmd_01ARZ3NDEKTSV4RRFFQ69G5FAV' }],
};
const steps = [{ kind: 'freeze', target: 'tool:crm.read', reason: 'it reads too much' }];
const lists = { agents: ['carol'], sessions: [], runs: [], tools: [], connectors: [], approvals: [], dispatches: [] };
const plan = {
  ...{ plan_id: 'pln_01ARZ3NDEKTSV4RRFFQ69G5FAV', workspace_id: workspaceId, incident_id: id, state: 'approved' },
  ...{ steps, plan_hash: hash, approval_id: null, decision_id: null, receipt_id: null, asked_by: 'ada' },
  ...{ created_at: at, expires_at: at, committed_by: null, committed_at: null, commands: [] },
  dry_run: {
    ...{ type: 'countersign.blast-radius.v1', tenant_id: workspaceId, tree_size: 1, root_hash: hash, from: at },
    steps: [{ kind: 'freeze', target: 'tool:crm.read' }],
    ...{ receipts: 1, is_whole: true, unverifiable: 0, affected: { ...lists, relations: [] }, more_relations: false },
    ...{ denials: { count: 1, first: [] }, reversibility: 'whole', radius_hash: hash },
  },
};

const boundary = {
  ...{ status: 'ready', mode: 'enforce', last_proven_fail_closed: null },
  ...{ open_dispatches: 0, pending_approvals: 0 },
};
const nothingStopped = {
  ...{ workspace_id: workspaceId, kernel: 'ok', boundary },
  ...{ fences: [], more_fences: false, unconfirmed: [] },
};
const fence = {
  ...{
    scope: `tool:${workspaceId}/mail.send`,
    target: 'tool:mail.send',
    kind: 'freeze',
    epoch: 4,
    reason: 'it sends too much',
  },
  ...{ limit: null, window_seconds: null, set_by: 'ada', effective_at: at, expires_at: null },
  ...{ open_dispatches: [], more_open_dispatches: false },
};

type Around = { ops?: object; role?: 'member' | 'owner' };

async function atIncident(incident: object, { ops = nothingStopped, role = 'owner' }: Around = {}) {
  const here = stage();
  here.peer.answers(getOps, ops);
  here.peer.answers(getIncident, incident, { etag: '"read"' });
  here.show(<IncidentDetail id={id} />, { role });
  await screen.findByRole('heading', { name: 'A leak', level: 1 });
  return here;
}

async function moving(incident: object, move: string) {
  const here = await atIncident(incident);
  await here.user.click(screen.getByRole('button', { name: move }));
  const dialog = within(await screen.findByRole('dialog'));
  await here.user.type(dialog.getByLabelText('Note'), 'mine');
  const sent = () =>
    here.peer.requests(transitionIncident).map(({ body, headers }) => [body, headers.get('if-match')] as const);
  return { ...here, dialog, sent, send: () => here.user.click(dialog.getByRole('button', { name: move })) };
}

describe('the address of an incident', () => {
  const { timeline, receipts, commands, plans, standing, ...summary } = open;
  const second = { ...summary, incident_id: 'inc_01ARZ3NDEKTSV4RRFFQ69G5FAW', title: 'A burst', state: 'acked' };

  it('opens it beside the list, which marks it and links to the others', async () => {
    const { peer, user, show } = stage();
    peer.answers(getOps, nothingStopped);
    peer.answers(listIncidents, { data: [summary, second], next_cursor: null });
    peer.answers(getIncident, { ...open, owner: userId }, { etag: '"read"' });
    show(<IncidentsPage />, { path: `/incidents/${id}` });
    await screen.findByRole('heading', { name: 'A leak', level: 1 });
    const list = within(await screen.findByRole('navigation', { name: 'Incidents' }));
    expect((await list.findByRole('link', { name: 'A leak' })).getAttribute('aria-current')).toBe('page');
    const burst = list.getByRole('link', { name: 'A burst' });
    expect(burst.closest('li')?.textContent).toContain('Acknowledged');
    peer.answers(getIncident, { ...open, ...second }, { etag: '"read"' });
    await user.click(burst);
    await screen.findByRole('heading', { name: 'A burst', level: 1 });
    await waitFor(() => expect(list.getByRole('link', { name: 'A burst' }).getAttribute('aria-current')).toBe('page'));
  });

  it('shows the owner of the incident, and who reported it and when', async () => {
    const entries = [{ kind: 'opened', at, by: null, note: 'a check failed' }];
    await atIncident({ ...open, owner: userId, timeline: entries });
    expect(await screen.findByText('ada@example.org')).toBeTruthy();
    expect(screen.getByRole('region', { name: 'Timeline' }).textContent).toContain('Reportedby Countersign');
  });
});

describe('the stops of the workspace', () => {
  const inForce = () => screen.findByRole('region', { name: 'In force' });

  it('are on the page of an incident, and an owner lifts one there', async () => {
    const { peer, user } = await atIncident(open, { ops: { ...nothingStopped, fences: [fence] } });
    const stops = within(await inForce());
    expect((await stops.findByRole('list', { name: 'Stops in force' })).textContent).toContain('it sends too much');
    expect(stops.getByRole('link', { name: 'All stops and incidents' }).getAttribute('href')).toBe(
      '/console/incidents',
    );
    await user.click(stops.getByRole('button', { name: 'Resume tool:mail.send' }));
    const dialog = within(await screen.findByRole('dialog'));
    await user.type(dialog.getByLabelText(/^Reason to resume/), 'over');
    await user.type(dialog.getByLabelText(/^Type /), 'tool:mail.send');
    const lifted = {
      ...{ command_id: 'cmd_01ARZ3NDEKTSV4RRFFQ69G5FAV', target: 'tool:mail.send', kind: 'open', epoch: 5 },
      ...{ state: 'effective', reason: 'over', limit: null, window_seconds: null, given_by: 'ada', given_at: at },
      ...{ effective_at: at, expires_at: null, receipt_id: null, incident_id: null, parked_runs: [] },
      ...{ open_dispatches: [], more_open_dispatches: false, known: null, calls_last_7d: null },
    };
    peer.answers(resumeTarget, lifted);
    peer.answers(getOps, nothingStopped);
    await user.click(dialog.getByRole('button', { name: 'Resume it' }));
    await stops.findByText('Nothing is stopped in this workspace.');
    expect(stops.getByRole('status').textContent).toContain('Resumed: Tool mail.send');
    expect(peer.requests(resumeTarget).map(({ body }) => body)).toEqual([
      { target: 'tool:mail.send', reason: 'over', epoch: 4 },
    ]);
  });

  it('cannot be lifted by a member, and are unknown while the kernel does not answer', async () => {
    const around = { ops: { ...nothingStopped, fences: [fence] }, role: 'member' } as const;
    const { peer, readAgain } = await atIncident(open, around);
    const stops = within(await inForce());
    await stops.findByText('it sends too much');
    expect(stops.queryByRole('button')).toBeNull();
    peer.answers(getOps, { ...nothingStopped, kernel: 'unreachable', boundary: null });
    await act(readAgain);
    await stops.findByRole('alert');
    expect(stops.queryByRole('list')).toBeNull();
    expect(stops.queryByText(/^Nothing is stopped/)).toBeNull();
  });
});

describe('a move of an incident', () => {
  it('is sent again after a concurrent change only when the dialog has shown the new state', async () => {
    const { peer, dialog, sent, send } = await moving(open, 'Acknowledge');
    peer.refuses(transitionIncident, 'PRECONDITION_FAILED', 'It was changed');
    peer.answers(getIncident, { ...open, recurrence: 2 }, { etag: '"theirs"' });
    await send();
    await dialog.findByText(/It is open now/);
    await screen.findByText(/2 times/);
    peer.answers(transitionIncident, { ...open, state: 'acked' });
    await send();
    const body = { to: 'acked', note: 'mine', standing: [] };
    await screen.findByRole('button', { name: 'Acknowledge' });
    expect(sent()).toEqual([
      [body, '"read"'],
      [body, '"theirs"'],
    ]);
  });

  it('to resolved keeps only the checked stops in force, and shows why it is refused', async () => {
    const { peer, user, dialog, sent, send } = await moving(mitigating, 'Resolve');
    peer.refuses(transitionIncident, 'ILLEGAL_TRANSITION', 'A freeze of tool:crm.read is in force');
    await send();
    await dialog.findByText('A freeze of tool:crm.read is in force');
    expect(dialog.queryByText(/It is mitigating now/)).toBeNull();
    peer.answers(transitionIncident, { ...mitigating, state: 'resolved', standing: [] });
    await user.click(dialog.getByRole('checkbox', { name: 'freeze tool:crm.read' }));
    await send();
    expect(sent().map(([body]) => body)).toEqual([
      { to: 'resolved', note: 'mine', standing: [] },
      { to: 'resolved', note: 'mine', standing: ['tool:crm.read'] },
    ]);
  });
});

describe('a plan', () => {
  it('shows its dry run, and is committed only after the number of its stops is typed', async () => {
    const { peer, user } = await atIncident({ ...open, plans: [plan] });
    const card = within(screen.getByRole('article', { name: 'Plan, approved' }));
    expect(card.getByText('carol')).toBeTruthy();
    expect(card.getByText(/1 call would have been denied/)).toBeTruthy();
    await user.click(card.getByRole('button', { name: 'Commit' }));
    const typed = await screen.findByLabelText('Type 1 stop to go on');
    await user.type(typed, '2 stops{Enter}');
    expect(peer.requests(commitPlan)).toEqual([]);
    peer.answers(commitPlan, { ...plan, state: 'committed' });
    peer.answers(getIncident, { ...open, plans: [{ ...plan, state: 'committed' }] }, { etag: '"committed"' });
    await user.clear(typed);
    await user.type(typed, '1 stop{Enter}');
    await screen.findByRole('article', { name: 'Plan, committed' });
    expect(peer.requests(commitPlan).map(({ body }) => body)).toEqual([{ plan_hash: hash }]);
  });
});
