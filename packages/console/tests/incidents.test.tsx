import { at, stage, workspaceId } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { screen, within } from '@testing-library/react';
import { commitPlan, getIncident, transitionIncident } from '@countersign/contracts/control-plane';
import { IncidentDetail } from '../src/incidents/incident-detail.tsx';

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

async function atIncident(incident: object) {
  const here = stage();
  here.peer.answers(getIncident, incident, { etag: '"read"' });
  here.show(<IncidentDetail id={id} />);
  await screen.findByRole('heading', { name: 'A leak', level: 1 });
  return here;
}

async function moving(incident: object, move: string) {
  const here = await atIncident(incident);
  await here.user.click(screen.getByRole('button', { name: move }));
  const dialog = within(await screen.findByRole('dialog'));
  await here.user.type(dialog.getByLabelText('Note'), 'mine');
  const sent = () =>
    here.peer.asked(transitionIncident).map(({ body, headers }) => [body, headers.get('if-match')] as const);
  return { ...here, dialog, sent, send: () => here.user.click(dialog.getByRole('button', { name: move })) };
}

describe('a move of an incident', () => {
  it('that another person has changed is not sent again before the dialog has shown the new state', async () => {
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

  it('to resolved names the stops that stay only if they are checked, and shows why it is refused', async () => {
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
  it('shows what it would have reached, and is not committed before the number of its stops is typed', async () => {
    const { peer, user } = await atIncident({ ...open, plans: [plan] });
    const card = within(screen.getByRole('article', { name: 'Plan, approved' }));
    expect(card.getByText('carol')).toBeTruthy();
    expect(card.getByText(/1 call would have been denied/)).toBeTruthy();
    await user.click(card.getByRole('button', { name: 'Commit' }));
    const typed = await screen.findByLabelText('Type 1 stop to go on');
    await user.type(typed, '2 stops{Enter}');
    expect(peer.asked(commitPlan)).toEqual([]);
    peer.answers(commitPlan, { ...plan, state: 'committed' });
    peer.answers(getIncident, { ...open, plans: [{ ...plan, state: 'committed' }] }, { etag: '"committed"' });
    await user.clear(typed);
    await user.type(typed, '1 stop{Enter}');
    await screen.findByRole('article', { name: 'Plan, committed' });
    expect(peer.asked(commitPlan).map(({ body }) => body)).toEqual([{ plan_hash: hash }]);
  });
});
