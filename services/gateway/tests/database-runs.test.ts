import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { RunStatus } from '@countersign/contracts/gateway';
import { claimDueRun, freeRuns } from '../src/store/due-runs.ts';
import * as leases from '../src/store/leases.ts';
import { takeLeftStep } from '../src/store/left-steps.ts';
import { addProgress, moveRun } from '../src/store/run-progress.ts';
import * as runs from '../src/store/runs.ts';
import { ada, away, home, idOf, instantAt, minute, openTestStore, type TestStore } from './_store-rows.ts';

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
});
beforeEach(() => store.clear());
afterAll(() => store?.close());

const transaction = <T>(work: Parameters<typeof store.database.transaction<T>>[0]) => store.database.transaction(work);
const id = (nth: number) => idOf('run', nth);
const taskId = idOf('tsk', 1);
/** Returns the row of a run. Each run has its own task, because a task has only one live run. */
const row = (nth: number, columns: object = {}) => ({ id: id(nth), task_id: idOf('tsk', nth), ...columns });
const idsOf = (found: readonly { id: string }[]) => found.map((one) => one.id);
/** Returns a time relative to now, because the clock of the database measures leases. */
const fromNow = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString();
const stored = async (nth: number) => (await store.rows('SELECT * FROM runs WHERE id = $1', [id(nth)]))[0] ?? {};

const begun = {
  ...{ taskId, status: 'queued', outcome: null, startedBy: ada, iterationsUsed: 0, iterationBudget: 5 },
  ...{ tokensIn: 0, tokensOut: 0, costMinor: 0, currency: 'EUR', result: null, error: null },
  ...{ createdAt: instantAt(2), startedAt: null, endedAt: null },
};

describe('a run', () => {
  it('begins queued, and a task has at most one live run', async () => {
    await store.insert('tasks', { id: taskId });
    const terms = { workspaceId: home, taskId, startedBy: ada, iterationBudget: 5, currency: 'EUR' };
    const insert = () => transaction((tx) => runs.insertRun(tx, terms, minute(2)));
    const run = await insert();
    expect(run).toEqual({ id: expect.stringMatching(/^run_/), ...begun, steps: [] });
    await expect(insert()).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION', details: { allowed: [] } });
    const wrong = { ...terms, taskId: idOf('tsk', 404) };
    await expect(transaction((tx) => runs.insertRun(tx, wrong, minute(2)))).rejects.toMatchObject({ code: 'P2003' });
    expect(await transaction((tx) => runs.findLiveRunId(tx, taskId))).toBe(run.id);
  });

  it('states its outcome, and lists its steps and approvals in order', async () => {
    const times = { created_at: instantAt(2), started_at: instantAt(3), ended_at: instantAt(4) };
    const used = { iterations_used: 4, tokens_in: 10, tokens_out: 20, cost_micros: 1_000_001 };
    const ended = { status: 'failed', outcome: 'deny', result: 'Half', error_code: 'RUN_ENDED', error_message: null };
    await store.insert('runs', row(1, { ...times, ...used, ...ended }));
    await store.insert('run_steps', { id: idOf('stp', 2), seq: 2, state: 'settled' });
    await store.insert('run_steps', { id: idOf('stp', 3), seq: 1, state: 'settled' });
    const ofStep = { run_id: id(1), task_id: taskId, step_id: idOf('stp', 2) };
    for (const nth of [2, 1])
      await store.insert('approvals', { id: idOf('apr', nth), kernel_approval_id: idOf('apr', nth), ...ofStep });
    const run = await runs.findRun(store.database.reader, home, id(1));
    const { steps, ...summary } = run ?? { steps: [] };
    expect(summary).toEqual({
      ...{ ...begun, id: id(1), status: 'failed', outcome: 'deny', iterationsUsed: 4, tokensIn: 10, tokensOut: 20 },
      ...{ costMinor: 2, result: 'Half', error: { code: 'RUN_ENDED', message: '' } },
      ...{ startedAt: instantAt(3), endedAt: instantAt(4) },
    });
    expect(idsOf(steps)).toEqual([idOf('stp', 3), idOf('stp', 2)]);
    expect(steps[1]?.escalations.map(({ approvalId }) => approvalId)).toEqual([idOf('apr', 1), idOf('apr', 2)]);
    expect(await runs.findRun(store.database.reader, away, id(1))).toBeNull();
  });

  it('is listed in its workspace and its task, newest first', async () => {
    const done = { task_id: taskId, status: 'completed' };
    await store.insert('runs', row(1), row(2, done), row(3), row(4, { ...done, workspace_id: away }), row(5, done));
    const { reader } = store.database;
    const listed = async (status?: RunStatus) =>
      idsOf((await runs.listRunsIn(reader, home, { limit: 10, status })).data);
    expect([await listed(), await listed('completed'), await listed('failed')]).toEqual([
      ...[[id(5), id(3), id(2), id(1)], [id(5), id(2)], []],
    ]);
    const ofTask = { workspaceId: home, taskId };
    const first = await runs.listRunsOf(reader, ofTask, { limit: 2 });
    const rest = await runs.listRunsOf(reader, ofTask, { limit: 2, cursor: first.nextCursor ?? '' });
    expect([idsOf(first.data), idsOf(rest.data)]).toEqual([[id(5), id(2)], [id(1)]]);
    expect(rest.nextCursor).toBeNull();
    const summaries = await runs.listRunsIn(reader, home, { limit: 3 });
    const last = await runs.listRunsIn(reader, home, { limit: 3, cursor: summaries.nextCursor ?? '' });
    expect([idsOf(summaries.data), idsOf(last.data)]).toEqual([[id(5), id(3), id(2)], [id(1)]]);
    expect(Object.keys(summaries.data[0] ?? {})).not.toContain('steps');
  });

  it('is listed with its first steps in brief, and the number of all of them', async () => {
    await store.insert('runs', row(1), row(2));
    const step = (seq: number, columns: object) => ({
      ...{ id: idOf('stp', seq), run_id: id(1), seq, state: 'settled' },
      ...columns,
    });
    await store.insert('run_steps', step(1, { kind: 'model_call', verdict: 'ALLOW' }));
    await store.insert('run_steps', step(2, { kind: 'tool_call', verdict: 'ALLOW' }));
    await store.insert('run_steps', step(4, { kind: 'tool_call', verdict: 'DENY' }));
    await store.insert('run_steps', step(3, { kind: 'tool_call', verdict: 'ESCALATE' }));
    for (let seq = 5; seq <= 66; seq += 1)
      await store.insert('run_steps', step(seq, { kind: 'model_call', verdict: null }));
    const { data } = await runs.listRunsIn(store.database.reader, home, { limit: 10 });
    expect(data.map(({ stepCount, stepsBrief }) => [stepCount, stepsBrief])).toEqual([
      [0, ''],
      [66, `mawd${'m'.repeat(60)}`],
    ]);
  });

  it.each<[RunStatus, boolean, boolean]>([
    ['queued', true, false],
    ['running', true, true],
    ['awaiting_approval', true, false],
    ['completed', false, false],
    ['failed', false, false],
    ['denied', false, false],
    ['budget_exhausted', false, false],
    ['cancelled', false, false],
  ])('with the status %s counts as live: %j, and as running: %j', async (status, isLive, runsNow) => {
    await store.insert('runs', row(1, { status }), row(2));
    expect(await transaction((tx) => runs.findLiveRunId(tx, taskId))).toBe(isLive ? id(1) : null);
    const isRunning = (workspaceId: string) => runs.isRunning(store.database.reader, { workspaceId, runId: id(1) });
    expect([await isRunning(home), await isRunning(away)]).toEqual([runsNow, false]);
  });
});

describe('the move of a run', () => {
  const move = (to: RunStatus, more: object = {}) =>
    transaction((tx) => moveRun(tx, id(1), { from: ['running', 'queued'], to, ...more }, minute(9)));
  const lease = { lease_owner: 'worker', lease_until: instantAt(30), ended_at: instantAt(1) };
  const report = { outcome: 'allow', result: 'Before', error_code: 'OLD', error_message: 'Old' };

  it.each<[RunStatus, boolean]>([
    ['queued', false],
    ['awaiting_approval', false],
    ['completed', true],
    ['failed', true],
    ['denied', true],
    ['budget_exhausted', true],
    ['cancelled', true],
  ])('to %s ends the run: %j. The lease of an ended run expires by itself', async (to, ends) => {
    await store.insert('runs', row(1, { ...lease, ...report }), row(2, { ...lease, ...report }));
    expect(await move(to)).toBe(true);
    expect(await stored(1)).toMatchObject({
      ...{ status: to, lease_owner: null, lease_until: ends ? minute(30) : null, ended_at: ends ? minute(9) : null },
      ...{ outcome: 'allow', result: 'Before', error_code: null, error_message: null },
    });
    expect(await stored(2)).toMatchObject({ status: 'running', lease_owner: 'worker' });
  });

  it('stores the given outcome', async () => {
    await store.insert('runs', row(1, report));
    await move('failed', { outcome: 'deny', result: 'After', error: { code: 'NEW', message: 'New' } });
    expect(await stored(1)).toMatchObject({
      ...{ outcome: 'deny', result: 'After', error_code: 'NEW', error_message: 'New' },
    });
  });

  it('is made only from the given statuses', async () => {
    await store.insert('runs', row(1, { status: 'awaiting_approval' }));
    expect(await move('failed')).toBe(false);
    expect(await stored(1)).toMatchObject({ status: 'awaiting_approval', ended_at: null });
  });

  it('to a later step adds up usage, and resets the attempts', async () => {
    await store.insert(
      'runs',
      row(1, { iterations_used: 1, tokens_in: 2, tokens_out: 3, cost_micros: 4, attempts: 2 }),
    );
    const progress = { iterations: 10, tokensIn: 20, tokensOut: 30, costMicros: 40n };
    await transaction((tx) => addProgress(tx, id(1), progress));
    expect(await stored(1)).toMatchObject({
      ...{ iterations_used: 11, tokens_in: 22, tokens_out: 33, cost_micros: '44', attempts: 0 },
    });
  });
});

describe('the lease of a run', () => {
  const lease = { runId: id(1), taskId, workspaceId: home, owner: 'worker', fence: 3, startedBy: ada };
  const leased = (seconds: number, columns: object = {}) =>
    row(1, { lease_owner: 'other', lease_until: fromNow(seconds), lease_fence: 2, attempts: 1, ...columns });

  it.each<[string, boolean, object]>([
    ['is queued', true, { status: 'queued', lease_until: fromNow(60) }],
    ['has an expired lease', true, { lease_until: fromNow(-60) }],
    ['was never claimed', true, { lease_until: null }],
    ['is leased by a worker', false, {}],
    ['has ended', false, { status: 'completed', lease_until: null }],
    ['waits for an approval', false, { status: 'awaiting_approval', lease_until: null }],
  ])('can be claimed when the run %s: %j', async (_what, isHad, columns) => {
    await store.insert('runs', leased(60, columns));
    const claimed = await transaction((tx) => leases.claimRun(tx, { runId: id(1), owner: 'worker', leaseMs: 60_000 }));
    expect(claimed).toEqual(isHad ? lease : null);
    if (isHad) expect(await stored(1)).toMatchObject({ status: 'running', lease_owner: 'worker', attempts: 2 });
  });

  const acts: [string, boolean, (one: leases.Lease) => Promise<unknown>][] = [
    ['renewed', false, (one) => transaction((tx) => leases.renewLease(tx, one, 1_000))],
    ['locked', true, (one) => transaction((tx) => leases.lockLeasedRun(tx, one))],
    ['locked while it runs', false, (one) => transaction((tx) => leases.lockRunningRun(tx, one))],
    ['returned', false, (one) => transaction((tx) => leases.releaseLease(tx, one))],
    ['read', true, async (one) => (await leases.findLeasedRun(store.database.reader, one)) !== null],
  ];
  it.each(acts)(
    'can be %s only while it is the newest lease. After the end of the run: %j',
    async (_what, whenEnded, act) => {
      await store.insert('runs', leased(60, { lease_fence: 3 }), row(2));
      expect([await act({ ...lease, fence: 2 }), await act({ ...lease, runId: id(9) })]).toEqual([false, false]);
      expect(await act(lease)).toBe(true);
      await store.rows("UPDATE runs SET status = 'failed'");
      expect(await act(lease)).toBe(whenEnded);
    },
  );

  it('that is returned has no holder and counts as no attempt', async () => {
    await store.insert('runs', leased(60));
    await transaction((tx) => leases.releaseLease(tx, { ...lease, fence: 2 }));
    expect(await stored(1)).toMatchObject({ status: 'queued', lease_owner: null, lease_until: null, attempts: 0 });
  });

  it('that expired makes its run due again once, as does the loss of a job', async () => {
    const remaining = { runId: id(1), workspaceId: home, taskId, attempts: 1 };
    await store.insert('runs', leased(-1), row(2, { lease_until: fromNow(60) }));
    await store.insert('runs', row(3, { status: 'queued', created_at: fromNow(-60) }));
    await store.insert('runs', row(4, { status: 'queued', created_at: fromNow(0) }));
    const orphans = () => transaction((tx) => leases.takeOrphans(tx, 60_000));
    expect([await orphans(), await orphans()]).toEqual([[remaining], []]);
    const unclaimed = () => transaction((tx) => leases.takeUnclaimed(tx, 30_000));
    const waiting = { runId: id(3), workspaceId: home, taskId: idOf('tsk', 3), attempts: 0 };
    expect([await unclaimed(), await unclaimed()]).toEqual([[waiting], []]);
  });

  it('that has expired allows the open step of its ended run to be claimed, once', async () => {
    const ended = { status: 'cancelled', ended_at: instantAt(3), lease_fence: 4 };
    await store.insert('runs', row(1, { ...ended, lease_until: fromNow(60) }), row(2), row(3, ended), row(4, ended));
    const state = 'settled';
    const steps = [1, 2, 3].map((nth) => ({ id: idOf('stp', nth), run_id: id(nth), tool: 'files.read' }));
    await store.insert('run_steps', ...steps, { id: idOf('stp', 4), run_id: id(3), seq: 2, state });
    await store.insert('run_steps', { id: idOf('stp', 5), run_id: id(4), state });
    expect(await transaction((tx) => takeLeftStep(tx))).toEqual({
      ...{ id: idOf('stp', 3), workspaceId: home, runId: id(3), kind: 'tool_call', tool: 'files.read' },
    });
    expect((await stored(3))['lease_fence']).toBe(5);
    await store.rows("UPDATE run_steps SET state = 'settled' WHERE run_id = $1", [id(3)]);
    expect(await transaction((tx) => takeLeftStep(tx))).toBeNull();
  });
});

describe('the run that is due', () => {
  const waiting = (nth: number, of: string, minutes: number) =>
    row(nth, { workspace_id: of, status: 'queued', created_at: instantAt(minutes) });
  /** Claims the run of a job. */
  const take = async (named: number, perWorkspaceMax = 2) => {
    const claim = { runId: id(named), owner: 'worker', leaseMs: 60_000, perWorkspaceMax };
    const lease = await transaction((tx) => claimDueRun(tx, claim));
    return lease?.runId ?? null;
  };
  const end = (nth: number) => store.rows("UPDATE runs SET status = 'completed' WHERE id = $1", [id(nth)]);

  it('is the oldest of the workspace with the fewest running runs, whichever run the job names', async () => {
    await store.insert('runs', waiting(1, home, 1), waiting(2, home, 2), waiting(3, home, 3), waiting(4, away, 9));
    expect([await take(1), await take(2), await take(3)]).toEqual([id(1), id(4), id(2)]);
  });

  it('belongs to the workspace that was served least recently, also with one worker', async () => {
    await store.insert('runs', waiting(1, home, 1), waiting(2, home, 2), waiting(3, away, 8), waiting(4, away, 9));
    const taken: (string | null)[] = [];
    for (const nth of [1, 2, 3, 4]) {
      const next = await take(nth);
      taken.push(next);
      await store.rows("UPDATE runs SET status = 'completed' WHERE id = $1", [next]);
    }
    expect(taken).toEqual([id(1), id(3), id(2), id(4)]);
  });

  it('is not from a workspace at its limit, until a run of that workspace ends', async () => {
    await store.insert('runs', waiting(1, home, 1), waiting(2, home, 2), waiting(3, home, 3), waiting(4, home, 4));
    expect([await take(1), await take(2), await take(3), await take(1)]).toEqual([id(1), id(2), null, null]);
    expect(await transaction((tx) => freeRuns(tx, 2))).toEqual([]);
    await end(1);
    const freed = await transaction((tx) => freeRuns(tx, 2));
    expect(freed).toEqual([{ runId: id(3), workspaceId: home, taskId: idOf('tsk', 3), attempts: 0 }]);
    expect([await take(3), await take(4)]).toEqual([id(3), null]);
    await store.insert('runs', waiting(5, away, 9));
    expect(await take(5)).toBe(id(5));
  });

  it('is the run of the job if the worker of that run died, even above the limit', async () => {
    await store.insert('runs', row(1, { lease_until: fromNow(-1) }), waiting(2, away, 1));
    expect(await take(1, 1)).toBe(id(1));
  });

  describe('in an organisation whose plan limits concurrent runs', () => {
    const orgId = `org_${'1'.repeat(26)}`;
    const limit = async (runs: number | null) => {
      await store.rows('DELETE FROM entitlements');
      await store.insert('entitlements', { org_id: orgId, limits: { concurrent_runs: runs } });
    };
    const freed = async () => (await transaction((tx) => freeRuns(tx, 2))).map(({ runId }) => runId);

    beforeEach(async () => {
      await store.insert('org_workspaces', ...[home, away].map((workspace_id) => ({ workspace_id, org_id: orgId })));
    });

    it('can be claimed up to the limit across all workspaces, and not above it', async () => {
      await limit(2);
      await store.insert('runs', waiting(1, home, 1), waiting(2, home, 2), waiting(3, away, 3), waiting(4, away, 4));
      expect([await take(1), await take(2), await take(3), await take(4)]).toEqual([id(1), id(3), null, null]);
      expect(await freed()).toEqual([]);
      await end(1);
      expect(await freed()).toEqual([id(2), id(4)]);
      expect([await take(2), await take(4)]).toEqual([id(2), null]);
    });

    it('cannot be claimed while the limit is used by a run whose worker died, since another worker continues that run', async () => {
      await limit(1);
      await store.insert('runs', row(1, { lease_until: fromNow(-1) }), waiting(2, home, 1));
      expect([await take(2), await take(1)]).toEqual([null, id(1)]);
    });

    it('is not a new run under a limit of 0, and runs that had begun continue one by one', async () => {
      await limit(0);
      const begun = (nth: number) => ({ ...waiting(nth, home, nth), started_at: instantAt(nth) });
      await store.insert('runs', waiting(1, home, 1), begun(2), begun(3), waiting(4, away, 1));
      expect([await take(1), await take(2), await take(3), await take(4)]).toEqual([id(2), null, null, null]);
      expect(await freed()).toEqual([]);
      await end(2);
      expect(await freed()).toEqual([id(3)]);
      expect(await take(3)).toBe(id(3));
      await end(3);
      await limit(null);
      expect(await freed()).toEqual([id(1), id(4)]);
      expect([await take(1), await take(4)]).toEqual([id(4), id(1)]);
    });
  });
});
