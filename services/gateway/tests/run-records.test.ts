import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { agentOf } from '@countersign/contracts';
import type { Run } from '@countersign/contracts/gateway';
import type { TestDatabase } from '@countersign/database/testing';
import type { StartedGateway } from '../src/index.ts';
import {
  rowsOf,
  runReaching,
  signInAs,
  startRun,
  startTestGateway,
  testConfig,
  testDatabase,
  type Person,
} from './_gateway.ts';
import { KernelStub } from './_kernel-stub.ts';
import { entriesOf, evidenceHash, evidenceOf, logOf, toldOf } from './_run-records.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let person: Person;
let entries: ReturnType<typeof entriesOf>;
const kernel = new KernelStub();

beforeAll(async () => {
  database = await testDatabase();
  await kernel.start();
  const more = { GOV_GOVERNANCE_URL: kernel.url, GOV_GOVERNANCE_TIMEOUT: '6s' };
  gateway = await startTestGateway(testConfig(database, more));
});
beforeEach(async () => {
  person = await signInAs(gateway.url, `${crypto.randomUUID()}@example.org`);
  entries = entriesOf(person);
  kernel.verdictOf = () => 'ALLOW';
  kernel.judgesAnswers = true;
  kernel.approvals.clear();
  kernel.say = (messages) =>
    messages.some((message) => message.role === 'tool')
      ? { text: 'All done.' }
      : { calls: [{ name: 'files__write', args: { path: 'a' } }] };
});
afterAll(async () => {
  await gateway?.stop();
  await kernel.kill();
  await database?.drop();
});

const cancel = (taskId: string) =>
  person.client.putTaskStatus({ params: { id: taskId }, body: { status: 'cancelled' } });
const setTo = (policyConfig: object) =>
  person.client.putWorkspaceSettings({ params: { id: person.workspace.id }, body: { policyConfig } as never });

describe('a run that is done', () => {
  it('is in the log from its start to its end, step by step', async () => {
    const run = await runReaching(person, (await startRun(person)).taskId);
    expect(await logOf(person)).toEqual([
      ...entries.begun(run),
      ...[0, 1, 2].map((at) => entries.stepEntryOf(run, at)),
      entries.entryOf(run, 'run.completed', { details: { taskId: run.taskId, outcome: 'allow' } }),
    ]);
  });

  it('publishes each move of its task once', async () => {
    const { taskId, runId } = await startRun(person);
    await runReaching(person, taskId);
    const place = { workspaceId: person.workspace.id, taskId };
    expect(await toldOf(database, taskId)).toEqual([
      { type: 'run.ended.v1', data: { ...place, runId, status: 'completed' } },
      { type: 'run.enqueued.v1', data: { ...place, runId } },
      { type: 'task.created.v1', data: place },
      { type: 'task.moved.v1', data: { ...place, from: 'pending', to: 'queued' } },
      { type: 'task.moved.v1', data: { ...place, from: 'queued', to: 'running' } },
      { type: 'task.moved.v1', data: { ...place, from: 'running', to: 'completed' } },
    ]);
  });

  it('leaves evidence of the request, of each answer and of the result', async () => {
    const { taskId, runId } = await startRun(person, 'Sort the files');
    const run = await runReaching(person, taskId);
    const place = { workspaceId: person.workspace.id, taskId };
    const outputs = await rowsOf<{ output: string }>(
      database,
      'SELECT output FROM run_steps WHERE run_id = $1 ORDER BY seq',
      [runId],
    );
    const request = { kind: 'run_enqueued', contentHash: evidenceHash({ title: 'Sort the files', description: '' }) };
    const ended = { kind: 'run_ended', contentHash: evidenceHash('All done.') };
    expect(await evidenceOf(database, runId)).toEqual([
      { ...place, ...request, stepId: null, metadata: { iterationBudget: 25 } },
      ...run.steps.map(({ id: stepId, verdict, decisionId }, at) => ({
        ...{ ...place, stepId, kind: 'step_settled', contentHash: evidenceHash(outputs[at]?.output ?? null) },
        metadata: { verdict, decisionId, receiptHash: expect.stringMatching(/^sha256:/) },
      })),
      { ...place, ...ended, stepId: null, metadata: { status: 'completed', outcome: 'allow', errorCode: null } },
    ]);
  });
});

describe('the request to a model', () => {
  const argsOf = async (runId: string) => {
    const found = 'SELECT args FROM run_steps WHERE run_id = $1 AND seq = 1';
    const [step] = await rowsOf<{ args: string }>(database, found, [runId]);
    return JSON.parse(step?.args ?? '') as Record<string, unknown>;
  };
  const functionOf = (name: string) => ({
    type: 'function',
    function: { name: name.replace('.', '__'), description: name, parameters: { type: 'object' } },
  });

  it('contains the task, the settings and the tools', async () => {
    const { taskId, runId } = await startRun(person, 'Sort the files');
    await runReaching(person, taskId);
    const system = { role: 'system', content: expect.any(String) };
    expect(await argsOf(runId)).toEqual({
      ...{ model: 'default', temperature: 0.7, max_tokens: 4096 },
      messages: [system, { role: 'user', content: 'Sort the files' }],
      tools: ['files.read', 'files.write'].map(functionOf),
    });
  });

  it('has no list of tools when each of them is blocked, in either spelling', async () => {
    await setTo({ maxIterationBudget: 25, blockedTools: ['files.read', 'files__write'], deniedCall: 'end' });
    kernel.say = () => ({ text: 'Nothing to do it with.' });
    const { taskId, runId } = await startRun(person);
    await runReaching(person, taskId);
    expect(Object.keys(await argsOf(runId)).sort()).toEqual(['max_tokens', 'messages', 'model', 'temperature']);
  });
});

describe('a run that waits for an approval', () => {
  const parked = async () => {
    kernel.verdictOf = () => 'ESCALATE';
    const { taskId } = await startRun(person);
    const run = await runReaching(person, taskId, ['awaiting_approval']);
    const { body } = await person.client.listWorkspaceApprovals({ query: { status: 'pending' } });
    const approval = body.data[0];
    if (approval === undefined) throw new Error('The run has no pending approval');
    return { taskId, run, approval };
  };
  const waits = (run: Run) => [
    ...entries.begun(run),
    entries.stepEntryOf(run, 0),
    entries.stepEntryOf(run, 1, { verdict: 'escalate', reason: 'APPROVAL_REQUIRED' }),
    entries.entryOf(run, 'run.awaiting_approval', {
      verdict: 'escalate',
      details: { taskId: run.taskId, outcome: 'escalate' },
    }),
  ];
  const resolution = (
    run: Run,
    { id, kernelApprovalId }: { id: string; kernelApprovalId: string },
    selfApproved = false,
  ) => ({
    ...{ actor: person.user.id, subject: id, isAsked: true },
    details: {
      ...{ runId: run.id, tool: 'files.write', kernelApprovalId, apiKeyId: null },
      ...{ selfApproved, timelockUntil: null },
    },
  });

  it('shows what is requested, and by which agent', async () => {
    const { run, approval } = await parked();
    const opened = kernel.approvals.get(approval.kernelApprovalId);
    expect(approval).toMatchObject({
      ...{ runId: run.id, taskId: run.taskId, workspaceId: person.workspace.id, action: 'tool.call' },
      ...{ resource: null, facts: {}, args: { path: 'a' }, effectLevel: 'E2', reasonCode: 'APPROVAL_REQUIRED' },
      ...{ decisionId: run.steps[1]?.decisionId, requestedBy: agentOf(person.workspace.id), startedBy: person.user.id },
      ...{ expiresAt: opened.expiresAt, resolvedAt: null },
    });
    expect((await toldOf(database, run.taskId)).at(-1)).toMatchObject({ data: { to: 'awaiting_approval' } });
    const messages = await rowsOf(
      database,
      "SELECT envelope::jsonb -> 'data' AS data FROM outbox WHERE type = 'approval.requested.v1' AND envelope LIKE $1",
      [`%${run.id}%`],
    );
    expect(messages).toEqual([{ data: { workspaceId: person.workspace.id, runId: run.id, approvalId: approval.id } }]);
  });

  it('is logged with the approver, and the one call has two entries', async () => {
    const { taskId, approval } = await parked();
    await person.client.resolveWorkspaceApproval({ params: { id: approval.id }, body: { status: 'approved' } });
    const run = await runReaching(person, taskId);
    const log = await logOf(person);
    const first = entries.stepEntryOf(run, 1, { verdict: 'escalate', reason: 'APPROVAL_REQUIRED' });
    const { decisionId } = approval;
    const escalated = { ...first.details, decisionId, receiptId: decisionId?.replace('dec_', 'rcp_') };
    expect(log.slice(3, 5)).toEqual([{ ...first, details: escalated }, waits(run)[4]]);
    expect(log.slice(5).filter(({ action }) => action !== 'approval.vote')).toEqual([
      entries.entryOf(run, 'approval.approved', resolution(run, approval, true)),
      entries.entryOf(run, 'run.queued', {
        ...{ actor: person.user.id, isAsked: true },
        details: { taskId, outcome: null },
      }),
      entries.entryOf(run, 'run.running', { details: {} }),
      entries.stepEntryOf(run, 1),
      entries.stepEntryOf(run, 2),
      entries.entryOf(run, 'run.completed', { details: { taskId, outcome: 'allow' } }),
    ]);
  });

  it('and is cancelled is logged as cancelled, with the person who cancelled it', async () => {
    const { taskId, approval } = await parked();
    await cancel(taskId);
    const run = await runReaching(person, taskId);
    const error = { code: 'RUN_ENDED', message: 'The run ended before a decision about this call.' };
    expect(run).toMatchObject({ status: 'cancelled', outcome: 'escalate', error: null, result: null });
    expect(run.steps.at(-1)?.error).toEqual(error);
    expect(await logOf(person)).toEqual([
      ...waits(run),
      entries.entryOf(run, 'approval.cancelled', { ...resolution(run, approval), verdict: 'deny' }),
      entries.entryOf(run, 'run.cancelled', {
        ...{ actor: person.user.id, isAsked: true },
        details: { taskId, outcome: null },
      }),
    ]);
    const metadata = { status: 'cancelled', outcome: null, errorCode: null };
    const evidence = await evidenceOf(database, run.id);
    expect(evidence.at(-1)).toMatchObject({ metadata, contentHash: evidenceHash(null) });
    expect(evidence.filter(({ kind }) => kind === 'run_ended')).toHaveLength(1);
  });
});
