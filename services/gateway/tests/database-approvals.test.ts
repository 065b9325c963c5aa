import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import * as approvals from '../src/store/approvals.ts';
import { ada, away, home, idOf, instantAt, minute, openTestStore, type TestStore } from './_store-rows.ts';

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
});
beforeEach(async () => {
  await store.clear();
  await store.insert('runs', { id: runId });
});
afterAll(() => store?.close());

const transaction = <T>(work: Parameters<typeof store.database.transaction<T>>[0]) => store.database.transaction(work);
const id = (nth: number) => idOf('apr', nth);
const [runId, taskId, stepId, apiKeyId] = [idOf('run', 1), idOf('tsk', 1), idOf('stp', 1), idOf('hpk', 1)];
const row = (nth: number, columns: object = {}) => ({
  ...{ id: id(nth), kernel_approval_id: id(nth), run_id: runId, task_id: taskId, step_id: stepId },
  ...columns,
});
const ofKey = { run_id: null, task_id: null, step_id: null, api_key_id: apiKeyId, api_key_name: 'Robot' };
const snapshot = { status: 'approved', held: true };
const idsOf = (found: readonly { id: string }[]) => found.map((one) => one.id);
const states = () => store.rows('SELECT id, status, held FROM approvals ORDER BY id');

const request = {
  ...{ action: 'tool.call', tool: 'files.write', resource: 'file:a', args: '{"a":1}', facts: '{"b":2}' },
  ...{ effectLevel: 'E2', demand: { tool_calls: 1, spend_micros: '2', egress_bytes: 3, writes: 4 } },
  ...{ reasonCode: 'APPROVAL_REQUIRED', reason: 'Ask', decisionId: idOf('dec', 1), expiresAt: minute(60) },
};
const who = { workspaceId: home, kernelApprovalId: id(1), requestedBy: 'agent', startedBy: ada };
const view = {
  ...{ id: id(1), workspaceId: home, taskId, runId, apiKey: null, sessionId: runId, status: 'pending' },
  ...{ action: 'tool.call', tool: 'files.write', resource: 'file:a', args: { a: 1 }, facts: { b: 2 } },
  ...{ effectLevel: 'E2', demand: { toolCalls: 1, spendMicros: '2', egressBytes: 3, writes: 4 } },
  ...{ reasonCode: 'APPROVAL_REQUIRED', reason: 'Ask', requestedBy: 'agent', startedBy: ada },
  ...{ kernelApprovalId: id(1), decisionId: idOf('dec', 1), resolvedBy: null, resolvedAt: null },
  ...{ selfApproved: false, timelockUntil: null, expiresAt: instantAt(60), createdAt: instantAt(7) },
};

describe('a requested approval', () => {
  it('of a run stores everything that is judged', async () => {
    const approval = { ...request, ...who, runId, taskId, stepId };
    expect(await transaction((tx) => approvals.insertApproval(tx, approval, minute(7)))).toEqual(view);
    const found = await approvals.findApproval(store.database.reader, home, id(1));
    expect(found).toEqual({ ...view, stepId, held: false });
  });

  it('is open again for the current step when the same run requests it again', async () => {
    const decided = { resolved_by: ada, resolved_at: instantAt(3), timelock_until: instantAt(4), reason: 'Before' };
    await store.insert('approvals', row(1, { ...snapshot, ...decided, created_at: instantAt(2) }));
    const approval = { ...request, ...who, runId, taskId, stepId: idOf('stp', 2) };
    const again = await transaction((tx) => approvals.insertApproval(tx, approval, minute(7)));
    expect(again).toEqual({ ...view, createdAt: instantAt(2) });
    const stored = { ...again, stepId: idOf('stp', 2), held: false };
    expect(await approvals.findApproval(store.database.reader, home, id(1))).toEqual(stored);
  });

  it('of a key contains the key, and is stored once', async () => {
    const approval = { ...request, ...who, apiKeyId, apiKeyName: 'Robot', sessionId: 'a-session' };
    const insert = () => transaction((tx) => approvals.insertApprovalOfKey(tx, approval, minute(7)));
    const apiKey = { id: apiKeyId, name: 'Robot' };
    expect(await insert()).toEqual({ ...view, runId: null, taskId: null, apiKey, sessionId: 'a-session' });
    expect(await insert()).toBeNull();
  });

  it('belongs to one run or key', async () => {
    await store.insert('approvals', row(1), row(2, { run_id: idOf('run', 2) }), row(3, ofKey));
    const isOther = (nth: number) =>
      transaction((tx) => approvals.isApprovalOfOtherRun(tx, { kernelApprovalId: id(nth), runId }));
    expect([await isOther(1), await isOther(2), await isOther(3), await isOther(4)]).toEqual([
      ...[false, true, true, false],
    ]);
  });
});

describe('a search for an approval', () => {
  it('finds it only in its own workspace, also by its kernel id', async () => {
    const { reader } = store.database;
    await store.insert('approvals', row(1), row(2, { workspace_id: away }), row(3, { kernel_approval_id: id(9) }));
    const ofKernel = (kernelApprovalId: string) =>
      approvals.findApprovalOfKernel(reader, { workspaceId: home, kernelApprovalId });
    expect([await approvals.findApproval(reader, home, id(2)), await ofKernel(id(2)), await ofKernel(id(3))]).toEqual([
      ...[null, null, null],
    ]);
    expect([(await ofKernel(id(1)))?.id, (await ofKernel(id(9)))?.id]).toEqual([id(1), id(3)]);
  });

  it.each([
    ['approved', ada, true],
    ['rejected', ada, false],
    ['approved', idOf('usr', 2), false],
    ['approved', null, false],
  ])(
    'reports for an approval that was %s by %j whether its requester approved it: %j',
    async (status, resolved_by, selfApproved) => {
      await store.insert('approvals', row(1, { status, resolved_by }));
      const found = await approvals.findApproval(store.database.reader, home, id(1));
      expect(found).toMatchObject({ status, resolvedBy: resolved_by, selfApproved });
    },
  );

  it('lists it in its workspace, newest first, with an optional status', async () => {
    await store.insert('approvals', row(1), row(2, { status: 'expired' }), row(3), row(4, { workspace_id: away }));
    const listed = async (status?: 'pending') => {
      const { data } = await approvals.listApprovalsOf(store.database.reader, home, { limit: 10, status });
      return idsOf(data);
    };
    expect([await listed(), await listed('pending')]).toEqual([
      [id(3), id(2), id(1)],
      [id(3), id(1)],
    ]);
    const first = await approvals.listApprovalsOf(store.database.reader, home, { limit: 2 });
    expect(idsOf(first.data)).toEqual([id(3), id(2)]);
    const rest = { limit: 2, cursor: first.nextCursor ?? '' };
    expect(await approvals.listApprovalsOf(store.database.reader, home, rest)).toMatchObject({
      data: [{ id: id(1) }],
      nextCursor: null,
    });
  });
});

describe('approvals that are due', () => {
  it('include those whose time lock has ended, oldest first', async () => {
    const until = (nth: number) => ({ ...snapshot, timelock_until: instantAt(nth) });
    await store.insert('approvals', row(1, until(5)), row(2, until(3)), row(3, until(6)));
    await store.insert('approvals', row(4, { ...until(1), held: false }), row(5, snapshot));
    expect(idsOf(await approvals.findReleasable(store.database.reader, minute(5)))).toEqual([id(2), id(1)]);
  });

  it('include pending ones that have expired, oldest first', async () => {
    const until = (nth: number) => ({ expires_at: instantAt(nth) });
    await store.insert('approvals', row(1, until(5)), row(2, until(3)), row(3, until(6)));
    await store.insert('approvals', row(4, { ...until(1), status: 'approved' }));
    expect(idsOf(await approvals.findExpired(store.database.reader, minute(5)))).toEqual([id(2), id(1)]);
  });

  it('are limited to 50 at a time', async () => {
    const many = Array.from({ length: 51 }, (_, nth) => row(nth + 1, { expires_at: instantAt(1) }));
    const locked = many.map((one, nth) => ({ ...one, ...row(nth + 100, snapshot), timelock_until: instantAt(1) }));
    await store.insert('approvals', ...many);
    await store.insert('approvals', ...locked);
    expect(await approvals.findExpired(store.database.reader, minute(5))).toHaveLength(50);
    expect(await approvals.findReleasable(store.database.reader, minute(5))).toHaveLength(50);
  });
});

describe('an approval that is decided', () => {
  it('stores once who decided it and when', async () => {
    await store.insert('approvals', row(1), row(2));
    const from = { id: id(1), status: 'pending', held: false } as const;
    const to = { status: 'approved', resolvedBy: ada, timelockUntil: minute(20), held: true, now: minute(9) } as const;
    const resolve = () => transaction((tx) => approvals.resolveApproval(tx, from, to));
    expect(await resolve()).toMatchObject({
      ...{ id: id(1), status: 'approved', resolvedBy: ada, selfApproved: true },
      ...{ resolvedAt: instantAt(9), timelockUntil: instantAt(20) },
    });
    expect(await resolve()).toBeNull();
    expect(await states()).toEqual([
      { id: id(1), ...snapshot },
      { id: id(2), status: 'pending', held: false },
    ]);
  });

  it('and waits for a time lock is released once', async () => {
    await store.insert('approvals', row(1, snapshot), row(2, snapshot));
    const take = () => transaction((tx) => approvals.takeHeld(tx, id(1)));
    expect([await take(), await take()]).toEqual([true, false]);
    expect((await states()).map((one) => one['held'])).toEqual([false, true]);
  });

  it('is unchanged when its run is cancelled, and pending ones end', async () => {
    await store.insert('approvals', row(1), row(2, { status: 'approved' }), row(3, { run_id: idOf('run', 2) }));
    const ended = await transaction((tx) => approvals.cancelApprovalsOfRun(tx, runId, minute(9)));
    expect(ended).toMatchObject([{ id: id(1), status: 'cancelled', resolvedBy: null, resolvedAt: instantAt(9) }]);
    expect((await states()).map(({ status }) => status)).toEqual(['cancelled', 'approved', 'pending']);
  });
});
