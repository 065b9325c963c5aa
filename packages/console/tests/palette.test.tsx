import { at, stage, userId, workspaceId } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { useLocation } from '@tanstack/react-router';
import { screen, waitFor } from '@testing-library/react';
import { listConsoleTools } from '@countersign/contracts/control-plane';
import { getRun, listTasks } from '@countersign/contracts/gateway';
import { listApprovals, listSeenAgents } from '@countersign/contracts/governance-kernel';
import { Palette } from '../src/shell/palette.tsx';
import { approvalCalled } from './_approval.ts';

const ulid = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const me = { user: { id: userId, name: 'Ada', email: 'ada@example.org' }, workspaces: [] } as never; // branded by the schema

function Place() {
  const place = useLocation({ select: ({ pathname, searchStr }) => pathname + searchStr });
  return <output>{place}</output>;
}

function open({ agents = [], tools = [], tasks = [] }: { agents?: object[]; tools?: object[]; tasks?: object[] } = {}) {
  const here = stage();
  here.peer.answers(listSeenAgents, { complete_to: null, data: agents, has_more: false });
  here.peer.answers(listConsoleTools, { data: tools, next_cursor: null });
  here.peer.answers(listTasks, { data: tasks, nextCursor: null });
  const closed: string[] = [];
  here.show(
    <>
      <Palette me={me} isOpen onClose={() => closed.push('closed')} />
      <Place />
    </>,
    { path: '/overview' },
  );
  const paste = async (text: string) => {
    const field = await screen.findByRole('combobox', { name: 'Page or action' });
    await here.user.clear(field);
    await here.user.click(field);
    await here.user.paste(text);
    await here.user.keyboard('{Enter}');
  };
  return { ...here, closed, paste };
}

const isAt = (place: string) => waitFor(() => expect(document.querySelector('output')?.textContent).toBe(place));

describe('an id that is pasted into the search', () => {
  it.each([
    [`rcp_${ulid}`, `/activity/rcp_${ulid}`],
    [`inc_${ulid}`, `/incidents/inc_${ulid}`],
    [` tsk_${ulid} `, `/runs/tsk_${ulid}`],
    ['invoice-clerk', '/agents/invoice-clerk'],
  ])('%s opens its page', async (id, place) => {
    const { paste, closed } = open();
    await paste(id);
    await isAt(place);
    expect(closed).toEqual(['closed']);
  });

  it('opens an approval in the list of its state', async () => {
    const { peer, paste } = open();
    const approval = { ...approvalCalled(1), state: 'consumed' };
    peer.answers(listApprovals, { data: [approval], next_cursor: null });
    await paste(approval.approval_id);
    await isAt(`/inbox/${approval.approval_id}?state=consumed`);
    expect(peer.requests(listApprovals)[0]?.headers.get('x-workspace-id')).toBe(workspaceId);
  });

  it('keeps the search open with a message when no object has it', async () => {
    const { peer, paste, closed } = open();
    peer.answers(listApprovals, { data: [], next_cursor: null });
    peer.refuses(getRun, 'NOT_FOUND', 'No run has this id');
    await paste(`apr_${ulid}`);
    expect((await screen.findByRole('alert')).textContent).toContain('No object in this workspace has this id');
    await paste(`run_${ulid}`);
    await waitFor(() => expect(screen.getByRole('alert').textContent).toContain('No run has this id'));
    expect(closed).toEqual([]);
    await isAt('/overview');
  });

  it('does not hide a page whose name contains the text', async () => {
    const { paste } = open();
    await paste('inbox');
    await isAt('/inbox');
  });
});

describe('a name that is typed into the search', () => {
  const calls = { allowed: 0, denied: 0, needed_approval: 0 };
  const agent = {
    ...{ principal_id: 'invoice-clerk', display_name: 'Clerk of invoices', state: 'active', stop: null },
    ...{ enrolled_at: null, enrolled_by: null, live_keys: 0, last_call_at: null, day: calls, week: calls },
    pending_approvals: 0,
  };
  const task = {
    ...{ id: `tsk_${ulid}`, workspaceId, title: 'Pay the invoices', description: '', status: 'pending' },
    ...{ createdBy: userId, createdAt: at, updatedAt: at, completedAt: null },
  };

  it('offers the agents and tasks whose names contain it, and opens their pages', async () => {
    const { user, closed } = open({ agents: [agent], tasks: [task, { ...task, title: 'Rest' }] });
    await user.type(await screen.findByRole('combobox', { name: 'Page or action' }), 'invoice');
    await screen.findByRole('option', { name: 'Open the agent Clerk of invoices (invoice-clerk)' });
    expect(screen.getAllByRole('option').map(({ textContent }) => textContent)).toEqual([
      'Open the agent Clerk of invoices (invoice-clerk)',
      'Open the task Pay the invoices',
    ]);
    await user.keyboard('{ArrowDown}{Enter}');
    await isAt(`/runs/tsk_${ulid}`);
    expect(closed).toEqual(['closed']);
  });

  it('still finds agents when tasks cannot be read', async () => {
    const { peer, user } = open({ agents: [agent] });
    peer.refuses(listTasks, 'RATE_LIMITED', 'Too many requests');
    await user.type(await screen.findByRole('combobox', { name: 'Page or action' }), 'clerk');
    await user.click(await screen.findByRole('option', { name: /Clerk of invoices/ }));
    await isAt('/agents/invoice-clerk');
  });

  it('reads no names for a single letter', async () => {
    const { peer, user } = open({ agents: [agent] });
    await user.type(await screen.findByRole('combobox', { name: 'Page or action' }), 'i');
    await screen.findByRole('option', { name: 'Go to Inbox' });
    expect(peer.requests(listSeenAgents)).toEqual([]);
  });
});
