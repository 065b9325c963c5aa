import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ApprovalModel, RunStepModel } from '../src/generated/prisma/models.ts';
import * as steps from '../src/store/steps.ts';
import { digest, home, idOf, instantAt, minute, openTestStore, type TestStore } from './_store-rows.ts';

const stepId = idOf('stp', 1);
const runId = idOf('run', 1);
const nothing = { tool: null, argsHash: null, verdict: null, reasonCode: null, decisionId: null, receiptId: null };
const row = {
  ...{ id: stepId, workspaceId: home, runId, seq: 1, kind: 'model_call', state: 'submitted', callId: null },
  ...{ ...nothing, approvalId: null, errorCode: null, errorMessage: null, startedAt: minute(1), endedAt: null },
} satisfies Omit<RunStepModel, 'args' | 'output' | 'proposal'>;
const approval = {
  ...{ id: idOf('apr', 1), stepId, decisionId: null, status: 'pending', timelockUntil: null },
} as ApprovalModel; // the members that are shown
const open = {
  ...{ id: stepId, kind: 'model_call', ...nothing, escalations: [] },
  ...{ startedAt: instantAt(1), endedAt: null, error: null },
};

describe('the view of a step', () => {
  it('omits values that are not known yet', () => {
    expect(steps.stepViewOf({ step: row, approvals: [] })).toEqual(open);
  });

  it('states its outcome', () => {
    const report = {
      ...{ kind: 'tool_call', tool: 'files.read', argsHash: digest, verdict: 'ALLOW', reasonCode: 'ALLOWED' },
      ...{ decisionId: idOf('dec', 1), receiptId: idOf('rcp', 1) },
    };
    const step = { ...row, ...report, state: 'settled', endedAt: minute(2) };
    expect(steps.stepViewOf({ step, approvals: [] })).toEqual({ ...open, ...report, endedAt: instantAt(2) });
  });

  it.each([
    [null, 'unrequested', null],
    ['RUN_ENDED', 'It is over.', { code: 'RUN_ENDED', message: 'It is over.' }],
    ['RUN_ENDED', null, { code: 'RUN_ENDED', message: '' }],
  ])('for the error %j with the text %j contains %j', (errorCode, errorMessage, error) => {
    expect(steps.stepViewOf({ step: { ...row, errorCode, errorMessage }, approvals: [] }).error).toEqual(error);
  });

  it('lists its own approvals in order', () => {
    const decisionId = idOf('dec', 3);
    const approvals = [
      approval,
      { ...approval, id: idOf('apr', 2), stepId: idOf('stp', 2) },
      { ...approval, id: idOf('apr', 3), decisionId, status: 'approved', timelockUntil: minute(3) },
      { ...approval, id: idOf('apr', 4), stepId: null },
    ];
    expect(steps.stepViewOf({ step: row, approvals }).escalations).toEqual([
      { approvalId: idOf('apr', 1), decisionId: null, status: 'pending', timelockUntil: null },
      { approvalId: idOf('apr', 3), decisionId, status: 'approved', timelockUntil: instantAt(3) },
    ]);
  });
});

describe('a stored step', () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await openTestStore();
  });
  beforeEach(() => store.clear());
  afterAll(() => store?.close());
  const transaction = <T>(work: Parameters<typeof store.database.transaction<T>>[0]) =>
    store.database.transaction(work);
  const reportOf = () =>
    store.rows(`SELECT state, verdict, reason_code, decision_id, receipt_id, args_hash, approval_id, output, error_code,
      error_message, ended_at FROM run_steps ORDER BY id`);
  const untold = {
    ...{ verdict: null, reason_code: null, decision_id: null, receipt_id: null, args_hash: null, approval_id: null },
    ...{ output: null, error_code: null, error_message: null, ended_at: null },
  };
  const [id2, id3, id4] = [idOf('stp', 2), idOf('stp', 3), idOf('stp', 4)];
  const otherRun = { run_id: idOf('run', 2) };
  const error = { code: 'RUN_ENDED', message: 'It is over.' } as const;
  const ofError = { error_code: 'RUN_ENDED', error_message: 'It is over.' };

  it('is stored as it was requested', async () => {
    const request = {
      workspaceId: home,
      runId,
      kind: 'tool_call',
      tool: 'files.read',
      callId: 'c',
      args: '{}',
    } as const;
    const proposal = { decisionId: 'd', receiptId: 'r', notBefore: instantAt(9) };
    const second = { tool: null, callId: null, kind: 'model_call', runId: idOf('run', 2) } as const;
    await store.insert('runs', { id: runId }, { id: second.runId, task_id: idOf('tsk', 2) });
    const begun = await transaction(async (tx) => [
      await steps.insertStep(tx, { ...request, seq: 1, proposal }, minute(3)),
      await steps.insertStep(tx, { ...request, ...second, seq: 2 }, minute(4)),
    ]);
    const { workspaceId: _place, runId: _run, ...facts } = request;
    const rest = { state: 'submitted', grantId: null, decisionId: null, reply: null, toolReply: null };
    const id = expect.stringMatching(/^stp_/);
    expect(begun).toEqual([
      { id, ...facts, ...rest, seq: 1, proposal, startedAt: minute(3) },
      {
        ...{ id, ...facts, ...rest, kind: 'model_call', tool: null, callId: null },
        ...{ seq: 2, proposal: null, startedAt: minute(4) },
      },
    ]);
    const stored = [runId, second.runId].map((run) => steps.loadSteps(store.database.reader, { runId: run, after: 0 }));
    expect((await Promise.all(stored)).flat()).toEqual(begun);
  });

  it('is read in order, with its own kind of answer, and with arguments only while it is open', async () => {
    const reply = { message: { content: 'Hi' }, usage: null, spendMicros: null };
    const toolReply = { content: 'done', isError: false };
    await store.insert(
      'run_steps',
      { id: idOf('stp', 9), seq: 4, state: 'parked', approval_id: 'a', decision_id: 'd' },
      { id: stepId, seq: 1, state: 'settled' },
      { id: id2, seq: 2, state: 'settled', kind: 'model_call', output: JSON.stringify(reply) },
      { id: id3, seq: 3, state: 'settled', output: JSON.stringify(toolReply) },
      { id: id4, seq: 5, run_id: idOf('run', 2) },
    );
    const loaded = await steps.loadSteps(store.database.reader, { runId, after: 1 });
    const facts = loaded.map(({ seq, args, grantId, decisionId, reply: statement, toolReply: did }) => [
      ...[seq, args, grantId, decisionId, statement, did],
    ]);
    expect(facts).toEqual([
      [2, '', null, null, reply, null],
      [3, '', null, null, null, toolReply],
      [4, '{"a":1}', 'a', 'd', null, null],
    ]);
  });

  it('is settled or parked once, with all known values', async () => {
    await store.insert('run_steps', { id: stepId }, { id: id2, ...otherRun }, { id: id3, seq: 3, state: 'settled' });
    const decision = { verdict: 'ALLOW', reasonCode: 'ALLOWED', decisionId: 'd', receiptId: 'r', argsHash: 'h' };
    const settled = { state: 'settled', decision, output: '{}', error: null } as const;
    await transaction(async (tx) => {
      await steps.updateStep(tx, stepId, settled, minute(5));
      await steps.updateStep(tx, id2, { state: 'parked', decision: null, output: null, error }, minute(5));
      await steps.updateStep(tx, id3, settled, minute(5));
    });
    const ofDecision = { verdict: 'ALLOW', reason_code: 'ALLOWED', decision_id: 'd', receipt_id: 'r', args_hash: 'h' };
    expect(await reportOf()).toEqual([
      { ...untold, ...ofDecision, state: 'settled', output: '{}', ended_at: minute(5) },
      { ...untold, ...ofError, state: 'parked' },
      { ...untold, state: 'settled' },
    ]);
  });

  it('that is parked is granted or ended, without affecting others', async () => {
    const parked = { state: 'parked' };
    const settled = { state: 'settled', seq: 2 };
    await store.insert('run_steps', { id: stepId, ...parked }, { id: id2, ...settled });
    await store.insert('run_steps', { id: id3, ...otherRun, ...parked }, { id: id4, run_id: idOf('run', 3) });
    const granted = [id3, id2, id4];
    await transaction(async (tx) => {
      for (const id of granted) await steps.grantStep(tx, id, 'granted');
      await steps.endOpenStep(tx, runId, error, minute(6));
      await steps.endOpenStep(tx, idOf('run', 2), error, minute(6));
    });
    expect(await reportOf()).toEqual([
      { ...untold, ...ofError, state: 'settled', ended_at: minute(6) },
      { ...untold, state: 'settled' },
      { ...untold, state: 'submitted', approval_id: 'granted' },
      { ...untold, state: 'submitted' },
    ]);
    await store.insert('run_steps', { id: idOf('stp', 5), run_id: idOf('run', 5), ...parked });
    await transaction((tx) => steps.endOpenStep(tx, runId, error, minute(7)));
    expect((await reportOf()).at(-1)).toEqual({ ...untold, state: 'parked' });
  });
});
