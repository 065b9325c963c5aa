import { at, stage, userId, workspaceId } from './_dom.tsx';
import { describe, expect, it } from '@jest/globals';
import { screen, within } from '@testing-library/react';
import { createTask, getTask, listRuns, listTasks, listWorkspaceRuns, runTask } from '@countersign/contracts/gateway';
import { RunsPage } from '../src/runs/runs-page.tsx';

const id = 'tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const approvalId = 'apr_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const receiptId = 'rcp_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const runId = (last: string) => `run_01ARZ3NDEKTSV4RRFFQ69G5FA${last}`;
const task = {
  ...{ id, workspaceId, title: 'Write a letter', description: 'To the customer', status: 'completed' },
  ...{ createdBy: userId, createdAt: at, updatedAt: at, completedAt: at },
};
const step = {
  ...{ id: 'stp_01ARZ3NDEKTSV4RRFFQ69G5FAV', kind: 'model_call', tool: null, argsHash: null, verdict: null },
  ...{
    reasonCode: null,
    decisionId: null,
    receiptId: null,
    escalations: [],
    startedAt: at,
    endedAt: null,
    error: null,
  },
};
const called = {
  ...{
    ...step,
    id: 'stp_01ARZ3NDEKTSV4RRFFQ69G5FAX',
    kind: 'tool_call',
    tool: 'files__write_file',
    verdict: 'ESCALATE',
    receiptId,
  },
  ...{ escalations: [{ approvalId, decisionId: null, status: 'pending', timelockUntil: null }] },
  ...{ endedAt: '2026-11-27T12:00:00.999Z', error: { code: 'TOOL_FAILED', message: 'The tool broke' } },
};
const run = {
  ...{ id: runId('A'), taskId: id, status: 'completed', outcome: null, startedBy: userId, steps: [] as object[] },
  ...{ iterationsUsed: 2, iterationBudget: 9, tokensIn: 30, tokensOut: 12, costMinor: 1_234, currency: 'USD' },
  ...{ result: null as string | null, error: null as object | null, createdAt: at, startedAt: at as string | null },
  endedAt: at as string | null,
};

describe('the page of runs', () => {
  function atRuns(tasks: object[], runs: object[] = []) {
    const here = stage();
    here.peer.answers(listTasks, { data: tasks, nextCursor: null });
    here.peer.answers(listWorkspaceRuns, { data: runs, nextCursor: null });
    here.show(<RunsPage />, { path: '/runs' });
    return here;
  }

  it('lists each task with its state and a link', async () => {
    atRuns([{ ...task, status: 'awaiting_approval' }]);
    const row = (await screen.findByRole('link', { name: 'Write a letter' })).closest('tr');
    expect(row?.textContent).toContain('Waiting for a person');
    expect(row?.querySelector('a')?.getAttribute('href')).toMatch(new RegExp(`/runs/${id}$`));
    expect(screen.queryByText('No runs yet')).toBeNull();
  });

  it('shows the steps and the cost of the latest run of a task', async () => {
    const { steps: _steps, ...summary } = run;
    const latest = { ...summary, stepCount: 70, stepsBrief: 'mawdm', currency: 'JPY' };
    const before = { ...summary, id: runId('B'), stepCount: 1, stepsBrief: 'd' };
    atRuns([task], [latest, before]);
    const row = (await screen.findByRole('link', { name: 'Write a letter' })).closest('tr');
    const strip = await screen.findByRole('img', {
      name: '2 model calls, 1 action, 1 step that required an approval, 1 denied step. The first 5 of 70 steps',
    });
    expect(row?.contains(strip)).toBe(true);
    expect(strip.querySelectorAll('rect')).toHaveLength(5);
    expect(row?.textContent).toContain('1,234');
  });

  it('shows no steps for a run of an older gateway', async () => {
    const { steps: _steps, ...summary } = run;
    atRuns([task], [summary]);
    await screen.findByText('$12.34');
    expect(screen.queryByRole('img', { name: /step|call|action/ })).toBeNull();
  });

  it('starts the sample when there is no task: one task and one run, each with its own key', async () => {
    const { peer, user } = atRuns([]);
    await user.click(await screen.findByRole('button', { name: 'Start the sample task' }));
    const form = await screen.findByRole('dialog', { name: 'Start a run' });
    const title = within(form).getByRole<HTMLInputElement>('textbox', { name: /^Title/ });
    expect(title.value).toMatch(/\w/);
    expect(within(form).queryByRole('alert')).toBeNull();
    await user.clear(title);
    await user.type(title, 'Mine');
    peer.refuses(createTask, 'GATEWAY_UNAVAILABLE');
    await user.click(within(form).getByRole('button', { name: 'Start' }));
    await within(form).findByRole('alert');
    for (const route of [createTask, getTask]) peer.answers(route, task);
    peer.answers(runTask, run);
    peer.answers(listRuns, { data: [run], nextCursor: null });
    await user.click(within(form).getByRole('button', { name: 'Start' }));
    await screen.findByRole('heading', { name: 'Write a letter' });
    const [first, second] = peer.requests(createTask);
    expect(second?.body).toMatchObject({ title: 'Mine', description: expect.stringContaining('call:') });
    const keyOf = (request: { headers: Headers } | undefined) => request?.headers.get('idempotency-key');
    expect(keyOf(second)).toBe(keyOf(first));
    const [started] = peer.requests(runTask);
    expect(started?.params).toEqual({ id });
    expect(keyOf(started)).toMatch(/\w/);
    expect(keyOf(started)).not.toBe(keyOf(second));
  });
});

describe('the page of a task', () => {
  async function atTask(runs: object[], path = `/runs/${id}`) {
    const here = stage();
    here.peer.answers(getTask, task);
    here.peer.answers(listRuns, { data: runs, nextCursor: null });
    here.show(<RunsPage />, { path });
    expect((await screen.findByRole('region', { name: 'Description of the task' })).textContent).toBe(
      'To the customer',
    );
    return here;
  }
  const shown = async () => (await screen.findByRole('region', { name: 'Run' })).textContent;

  it('runs a task that was never run', async () => {
    const { peer, user } = await atTask([]);
    await screen.findByText('Not run yet');
    expect(screen.queryByRole('region', { name: 'Trace' })).toBeNull();
    peer.refuses(runTask, 'ILLEGAL_TRANSITION');
    await user.click(screen.getByRole('button', { name: 'Run task' }));
    await screen.findByRole('alert');
    peer.answers(runTask, run);
    peer.answers(listRuns, { data: [run], nextCursor: null });
    await user.click(screen.getByRole('button', { name: 'Run task' }));
    await screen.findByText('No step yet.');
    expect(peer.requests(runTask).map(({ params }) => params)).toEqual([{ id }, { id }]);
  });

  it('shows the state, the usage and the result of a run', async () => {
    await atTask([{ ...run, result: 'Dear\ncustomer' }]);
    expect(await shown()).toMatch(/Completed.*Ended.*2 of 9 iterations, 42 tokens, .*12\D34/);
    expect((await screen.findByText(/Dear/)).textContent).toBe('Dear\ncustomer');
    expect(screen.queryByText(/This run waits for an approval/)).toBeNull();
    expect(document.querySelector('.note-problem')).toBeNull();
    expect(screen.queryByRole('combobox', { name: 'Run' })).toBeNull();
  });

  it('shows each step with its verdict, receipt, approvals, error and time', async () => {
    const failed = { status: 'failed', error: { code: 'TOOL_FAILED', message: 'The run broke' } };
    const slow = { ...called, id: 'stp_01ARZ3NDEKTSV4RRFFQ69G5FAW', endedAt: '2026-11-27T12:00:01.000Z', error: null };
    await atTask([{ ...run, ...failed, steps: [step, called, slow] }]);
    const textOf = async (number: number) =>
      (await screen.findByRole('article', { name: `Step ${number}` })).textContent;
    expect(await textOf(1)).toMatch(/^1Model callUndecided.*, under way$/);
    expect(await textOf(2)).toMatch(/^2files__write_file.*, 999 msThe tool brokeApproval .*: pendingReceipt /);
    expect(await textOf(3)).toContain(', 1.0 s');
    expect(document.querySelector('.note-problem')?.textContent).toBe('The run broke TOOL_FAILED');
  });

  it('links to the inbox while a run waits, and shows no end time of the run', async () => {
    await atTask([{ ...run, status: 'awaiting_approval', startedAt: null, endedAt: null }]);
    expect(await shown()).toContain('Waiting for a person');
    expect(await shown()).toContain('not yet');
    expect(await shown()).not.toContain('Ended');
    expect(screen.getByRole('link', { name: 'Open the inbox' }).getAttribute('href')).toMatch(/\/inbox$/);
    expect(screen.queryByRole('region', { name: 'Result' })).toBeNull();
  });

  it('shows the newest of several runs, or the one that is chosen', async () => {
    const older = { ...run, id: runId('B'), iterationsUsed: 5, status: 'budget_exhausted' };
    const { user } = await atTask([run, older]);
    expect(await shown()).toContain('2 of 9');
    await user.selectOptions(await screen.findByRole('combobox', { name: 'Run' }), runId('B'));
    await screen.findByText(/5 of 9/);
    expect(await shown()).toContain('Out of budget');
  });
});
