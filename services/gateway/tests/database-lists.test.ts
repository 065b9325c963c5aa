import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { TaskId } from '@countersign/contracts';
import {
  findAuditEnd,
  listAuditEnds,
  listAuditEntries,
  listAuditFrom,
  openAuditChain,
  recordAudit,
} from '../src/store/audit.ts';
import { listReceiptsAfterRevocation, recordReceiptFault } from '../src/store/receipt-faults.ts';
import * as receipts from '../src/store/receipts.ts';
import { findReport, insertReports, listReportsOf } from '../src/store/reports.ts';
import * as tasks from '../src/store/tasks.ts';
import { insertViolation, listViolationsOf } from '../src/store/violations.ts';
import { callReport } from './_call-report.ts';
import { ada, away, digest, home, idOf, instantAt, minute, openTestStore, type TestStore } from './_store-rows.ts';

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
});
beforeEach(() => store.clear());
afterAll(() => store?.close());

const transaction = <T>(work: Parameters<typeof store.database.transaction<T>>[0]) => store.database.transaction(work);
const bob = idOf('usr', 2);
const nth = (one: { id: string }) => Number(one.id.slice(-4));
const numbersOf = (page: { data: { id: string }[] }) => page.data.map(nth);

describe('a task', () => {
  const id = (number: number) => idOf('tsk', number);
  const view = {
    ...{ id: id(1), workspaceId: home, title: 'Tidy', description: 'All of it', status: 'pending', createdBy: ada },
    ...{ createdAt: instantAt(0), updatedAt: instantAt(0), completedAt: null },
  };
  const find = (number: number) => tasks.findTask(store.database.reader, home, id(number));

  it('is stored as it was requested', async () => {
    await store.insert('workspaces', { id: home });
    const words = { title: 'Tidy', description: 'All of it' };
    const made = await transaction((tx) =>
      tasks.insertTask(tx, { ...words, workspaceId: home, createdBy: ada }, minute(0)),
    );
    expect(made).toEqual({ ...view, id: expect.stringMatching(/^tsk_/) });
  });

  it('is changed and completed without affecting others, with the times', async () => {
    await store.insert('tasks', { id: id(1) }, { id: id(2) });
    const words = { id: id(1), title: 'New', description: 'Less' };
    const changed = { ...view, title: 'New', description: 'Less', updatedAt: instantAt(1) };
    expect(await transaction((tx) => tasks.setTaskWords(tx, words, minute(1)))).toEqual(changed);
    const move = (to: 'completed' | 'failed', at: number) =>
      transaction((tx) => tasks.setTaskStatus(tx, id(1), to, minute(at)));
    const times = { updatedAt: instantAt(2), completedAt: instantAt(2) };
    expect(await move('completed', 2)).toEqual({ ...changed, ...times, status: 'completed' });
    expect(await move('failed', 3)).toEqual({ ...changed, updatedAt: instantAt(3), status: 'failed' });
    expect(await find(2)).toEqual({ ...view, id: id(2) });
  });

  it('is found and listed in its workspace until it is deleted, newest first', async () => {
    await store.insert('tasks', { id: id(1) }, { id: id(2), status: 'failed' }, { id: id(3) }, { id: id(4) });
    await store.insert('tasks', { id: id(5), workspace_id: away });
    await transaction((tx) => tasks.markTaskDeleted(tx, id(3), minute(7)));
    const times = await store.rows('SELECT updated_at, deleted_at FROM tasks WHERE id = $1', [id(3)]);
    expect(times).toEqual([{ updated_at: minute(7), deleted_at: minute(7) }]);
    expect([await find(3), await find(5), (await find(4))?.id]).toEqual([null, null, id(4)]);
    expect(await transaction((tx) => tasks.lockTask(tx, home, id(5)))).toBeNull();
    const list = (limit: number, more: object = {}) =>
      tasks.listTasksOf(store.database.reader, home, { limit, ...more });
    const first = await list(2);
    expect([numbersOf(first), numbersOf(await list(9, { status: 'failed' }))]).toEqual([[4, 2], [2]]);
    const rest = await list(2, { cursor: first.nextCursor });
    expect([numbersOf(rest), rest.nextCursor]).toEqual([[1], null]);
  });
});

describe('a violation', () => {
  it('is stored with its workspace, task, run, step and reason, and listed in its workspace, newest first', async () => {
    const place = { workspaceId: home, taskId: idOf('tsk', 1), runId: idOf('run', 1), stepId: idOf('stp', 1) };
    const refusal = {
      tool: 'a.b',
      reasonCode: 'DENIED',
      reason: 'No',
      decisionId: idOf('dec', 1),
      receiptId: idOf('rcp', 1),
    };
    const violation = { ...place, ...refusal, source: 'kernel' as const };
    const id = await transaction((tx) => insertViolation(tx, violation, minute(1)));
    const list = (limit: number, cursor?: string) => listViolationsOf(store.database.reader, home, { limit, cursor });
    expect(id).toMatch(/^vio_/);
    expect((await list(9)).data).toEqual([{ id, ...violation, createdAt: instantAt(1) }]);
    await store.rows('DELETE FROM violations');
    await store.insert('violations', { id: idOf('vio', 1) }, { id: idOf('vio', 2) }, { id: idOf('vio', 3) });
    await store.insert('violations', { id: idOf('vio', 4), workspace_id: away });
    const first = await list(2);
    const rest = await list(2, first.nextCursor ?? '');
    expect([numbersOf(first), numbersOf(rest), rest.nextCursor]).toEqual([[3, 2], [1], null]);
    const none = { taskId: null, runId: null, stepId: null, tool: null, decisionId: null, receiptId: null };
    expect(rest.data[0]).toMatchObject(none);
  });
});

describe('a receipt', () => {
  const document = (number: number) => ({
    payload: {
      ...{ type: 'countersign.receipt.v1', receipt_id: idOf('rcp', number), decision_id: idOf('dec', number) },
      ...{ kind: 'decision', tenant_id: home, principal_id: 'agent', session_id: 's', record_hash: digest },
      ...{ verdict: 'ALLOW', reason_code: 'ALLOWED', action: 'tool.call', tool: 'a.b', resource: null },
      ...{ effect_level: 'E1', args_hash: digest, policy_hash: `sha256:${'1'.repeat(64)}`, policy_epoch: 1 },
      ...{ shadow: false, lamport_clock: 1, prev_hash: null, issued_at: instantAt(0) },
    },
    signature: { alg: 'Ed25519', key_id: 'key', value: 'A'.repeat(86) },
    ...{ receipt_hash: digest, log_index: 6 },
  });
  const receipt = (number: number) =>
    document(number) as unknown as Parameters<typeof receipts.recordReceipt>[1]['receipt'];
  const place = { workspaceId: home, taskId: idOf('tsk', 1), runId: idOf('run', 1), stepId: 'step' };
  const record = (number: number, more: Partial<typeof place> = {}, at = 1) => {
    const stored = { ...place, ...more, receipt: receipt(number) };
    return transaction((tx) => receipts.recordReceipt(tx, stored, minute(at)));
  };
  const view = {
    ...{ decisionId: idOf('dec', 1), receiptId: idOf('rcp', 1), receiptHash: digest, taskId: place.taskId },
    ...{ runId: place.runId, verdict: 'ALLOW', reasonCode: 'ALLOWED', action: 'tool.call', tool: 'a.b' },
    ...{ effectLevel: 'E1', principal: 'agent', policyHash: `sha256:${'1'.repeat(64)}`, keyId: 'key' },
    ...{ verification: 'verified', fault: null, verifiedAt: instantAt(1), receivedAt: instantAt(1) },
  };

  it('is stored once with all of its members', async () => {
    await record(1);
    await record(1, { stepId: 'later' }, 2);
    const found = await receipts.findReceipt(store.database.reader, home, idOf('dec', 1));
    expect(found).toEqual({ ...view, receipt: document(1) });
    expect(await receipts.findReceipt(store.database.reader, away, idOf('dec', 1))).toBeNull();
  });

  it('belongs to one step in its workspace', async () => {
    await record(1);
    const isOther = (workspaceId: string, decision: number, stepId: string) =>
      transaction((tx) =>
        receipts.isReceiptOfOtherStep(tx, { workspaceId, decisionId: idOf('dec', decision), stepId }),
      );
    const requests = [await isOther(home, 1, 'step'), await isOther(home, 1, 'other'), await isOther(home, 2, 'other')];
    expect([...requests, await isOther(away, 1, 'other')]).toEqual([false, true, false, false]);
  });

  it('is not replaced by a failed receipt that claims its ids, and both are listed', async () => {
    const refuse = (workspaceId: string) => {
      const refused = { ...place, workspaceId, stepId: 'liar', receipt: receipt(1), fault: 'SIGNATURE_INVALID' };
      return transaction((tx) => receipts.insertRefusedReceipt(tx, refused, minute(0)));
    };
    await refuse(home);
    await refuse(away);
    const find = () => receipts.findReceipt(store.database.reader, home, idOf('dec', 1));
    const failed = { verification: 'failed', fault: 'SIGNATURE_INVALID', receiptId: idOf('rcp', 1) };
    expect(await find()).toMatchObject({ ...failed, receivedAt: instantAt(0) });
    const request = { workspaceId: home, decisionId: idOf('dec', 1), stepId: 'step' };
    expect(await transaction((tx) => receipts.isReceiptOfOtherStep(tx, request))).toBe(false);
    await record(1);
    expect(await find()).toMatchObject({ verification: 'verified', receivedAt: instantAt(1) });
    const { data } = await receipts.listReceiptsOf(store.database.reader, home, { limit: 5 });
    expect(data).toMatchObject([failed, view]);
  });

  it('of a revoked key is listed for review once, if it arrived or was issued after the revocation', async () => {
    for (const number of [1, 2, 3]) await record(number, {}, number);
    const start = { receivedAt: new Date(0), workspaceId: '', decisionId: '' };
    const after = (at: number, keyId = 'key') =>
      transaction(async (tx) => {
        const found = await listReceiptsAfterRevocation(tx, {
          keyId,
          revokedAt: instantAt(at),
          after: start,
          limit: 5,
        });
        return found.map(({ decisionId }) => decisionId);
      });
    expect([await after(2), await after(4), await after(1, 'other')]).toEqual([
      [idOf('dec', 2), idOf('dec', 3)],
      [],
      [],
    ]);
    const fault = { workspaceId: home, decisionId: idOf('dec', 2), fault: 'KEY_REVOKED' };
    const note = () => transaction((tx) => recordReceiptFault(tx, fault, minute(9)));
    expect([await note(), await note(), await after(2)]).toEqual([true, false, [idOf('dec', 3)]]);
    const found = await receipts.findReceipt(store.database.reader, home, idOf('dec', 2));
    expect(found).toMatchObject({ verification: 'failed', fault: 'KEY_REVOKED', verifiedAt: instantAt(9) });
  });

  it('is listed in its workspace, newest first', async () => {
    for (const number of [1, 2, 3]) await record(number);
    await record(4, { workspaceId: away });
    const list = (cursor?: string) => receipts.listReceiptsOf(store.database.reader, home, { limit: 2, cursor });
    const first = await list();
    const rest = await list(first.nextCursor ?? '');
    expect(first.data.map(({ receiptId }) => receiptId)).toEqual([idOf('rcp', 3), idOf('rcp', 2)]);
    expect(rest).toEqual({ data: [view], nextCursor: null });
  });
});

describe('the report of a failed call', () => {
  const id = (number: number) => idOf('rpt', number);
  const row = (number: number, columns: object = {}) => ({
    ...{ id: id(number), report: { ...callReport(home), id: id(number) }, created_at: instantAt(number), ...columns },
  });
  const all = { workspaceId: home, userId: null };

  it.each<[object, number[]]>([
    [{}, [4, 3, 2, 1]],
    [{ status: 404 }, [2]],
    [{ taskId: TaskId.parse(idOf('tsk', 3)) }, [3]],
    [{ from: instantAt(2) }, [4, 3, 2]],
    [{ to: instantAt(3) }, [2, 1]],
    [{ from: instantAt(2), to: instantAt(4) }, [3, 2]],
    [{ userId: bob }, [4]],
    [{ limit: 2 }, [4, 3]],
  ])('is listed with the filter %j among the rows %j', async (request, numbers) => {
    await store.insert('call_reports', row(1), row(2, { status: 404 }), row(3, { task_id: idOf('tsk', 3) }));
    await store.insert('call_reports', row(4, { user_id: bob }), row(5, { workspace_id: away }));
    const { userId = null, ...filter } = request as { userId?: string };
    const page = await listReportsOf(store.database.reader, { workspaceId: home, userId }, { limit: 9, ...filter });
    expect(numbersOf(page)).toEqual(numbers);
  });

  it.each<[string, string | null, string | null, number | null]>([
    ['a reader of all reports', null, null, 7],
    ['a person, who gets own reports first', null, ada, 3],
    ['a person who sees only own reports', ada, ada, 3],
    ['a person whose report belongs to no workspace', null, idOf('usr', 3), 6],
    ['a key, which gets only reports of its person', bob, null, 7],
    ['a key of a person without reports', idOf('usr', 3), null, null],
  ])('can be searched by %s', async (_who, userId, personId, number) => {
    const nowhere = { workspace_id: null };
    await store.insert('call_reports', row(1), row(3), row(4, { request_id: 'other' }), row(5, nowhere));
    await store.insert('call_reports', row(6, { ...nowhere, user_id: idOf('usr', 3) }), row(7, { user_id: bob }));
    await store.insert('call_reports', row(8, { workspace_id: away, user_id: bob }));
    const sought = { workspaceId: home, userId, personId, requestId: 'call' };
    const found = await findReport(store.database.reader, sought);
    expect(found === null ? null : nth(found)).toBe(number);
  });

  it.each([
    ['x'.repeat(128), true],
    ['x'.repeat(129), false],
    ['!~', true],
    ['a b', false],
    ['é', false],
  ])('can be searched by the request id %j: %j', async (request_id, isFound) => {
    await store.insert('call_reports', row(1, { request_id }));
    const found = await findReport(store.database.reader, { ...all, personId: null, requestId: request_id });
    expect(found !== null).toBe(isFound);
  });

  it('has the task and the run that were stored with it', async () => {
    const place = { task_id: idOf('tsk', 1), run_id: idOf('run', 1) };
    await store.insert('call_reports', row(1, place), row(2));
    const { data } = await listReportsOf(store.database.reader, all, { limit: 9 });
    expect(data).toEqual([
      { ...callReport(home), id: id(2) },
      { ...callReport(home), id: id(1), taskId: idOf('tsk', 1), runId: idOf('run', 1) },
    ]);
  });

  it('is stored in a workspace of which its person is a member, and otherwise for the person only', async () => {
    await store.insert('workspaces', { id: home });
    await store.insert('workspace_members', {});
    const of = (number: number) => ({ ...callReport(home), id: id(number) });
    const reports = [
      { report: of(1), userId: ada, approvalId: null },
      { report: of(2), userId: bob, approvalId: null },
      { report: of(3), userId: null, approvalId: idOf('apr', 1) },
      { report: { ...of(4), workspaceId: null }, userId: null, approvalId: null },
    ];
    const ofRun = { run_id: idOf('run', 1), task_id: idOf('tsk', 1), step_id: idOf('stp', 1) };
    await store.insert('approvals', { id: idOf('apr', 1), kernel_approval_id: 'k', ...ofRun });
    await transaction((tx) => insertReports(tx, reports));
    const kept = await store.rows(
      'SELECT workspace_id, user_id, request_id, status, task_id, run_id FROM call_reports ORDER BY id',
    );
    const statement = {
      workspace_id: home,
      user_id: ada,
      request_id: 'filled-call',
      status: 400,
      task_id: null,
      run_id: null,
    };
    expect(kept).toEqual([
      statement,
      { ...statement, workspace_id: null, user_id: bob },
      { ...statement, user_id: null, task_id: idOf('tsk', 1), run_id: idOf('run', 1) },
    ]);
  });
});

describe('the log of a workspace', () => {
  it('has its entries in one chain, without those of other workspaces', async () => {
    await store.rows('DELETE FROM audit_entries');
    await store.rows('DELETE FROM audit_heads');
    const record = (workspaceId: string, action: string, at: number) =>
      transaction((tx) => recordAudit(tx, { workspaceId, action, actor: ada, verdict: 'allow' }, minute(at)));
    await transaction((tx) => openAuditChain(tx, home));
    await transaction((tx) => openAuditChain(tx, away));
    for (const [at, action] of ['one', 'two', 'three'].entries()) await record(home, action, at);
    await record(away, 'elsewhere', 5);
    const { reader } = store.database;
    const ends = await listAuditEnds(reader, [home, away, idOf('wsp', 3)]);
    expect([...ends].sort()).toEqual([
      [home, 3],
      [away, 1],
    ]);
    expect([...(await listAuditEnds(reader, [away]))]).toEqual([[away, 1]]);
    const from = await listAuditFrom(reader, { workspaceId: home, seq: 2, limit: 9 });
    expect(from.map(({ action, workspaceId }) => [action, workspaceId])).toEqual([
      ['two', home],
      ['three', home],
    ]);
    expect(await listAuditFrom(reader, { workspaceId: home, seq: 1, limit: 1 })).toMatchObject([{ action: 'one' }]);
    const listed = await listAuditEntries(reader, home, { limit: 9 });
    expect(listed.data.map(({ action }) => action)).toEqual(['three', 'two', 'one']);
    expect(from[0]).toEqual(listed.data[1]);
    expect(from[0]?.id).toMatch(/^aud_/);
    expect(await findAuditEnd(reader, home)).toEqual({ seq: 3, hash: listed.data[0]?.hash });
    expect(
      numbersOf(await listAuditEntries(reader, home, { limit: 9, from: instantAt(1), to: instantAt(2) })),
    ).toHaveLength(1);
  });
});
