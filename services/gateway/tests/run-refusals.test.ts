import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
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
import { entriesOf, evidenceHash, evidenceOf, logOf } from './_run-records.ts';

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
  kernel.denialReason = 'POLICY_DENIED';
  kernel.judgesAnswers = false;
  kernel.fault = 'none';
  kernel.beforeModelAnswer = async () => undefined;
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

async function ended() {
  const { taskId } = await startRun(person);
  return runReaching(person, taskId);
}

async function setTo(policyConfig: object): Promise<void> {
  const params = { id: person.workspace.id };
  await person.client.putWorkspaceSettings({ params, body: { policyConfig } as never });
}

async function violations() {
  const { body } = await person.client.listViolations();
  return body.data.map(({ id: _id, createdAt: _createdAt, ...report }) => report);
}

describe('a call that the kernel denies', () => {
  const denial = { code: 'POLICY_DENIED', message: 'as the table says' };

  it('is a violation, and ends the run with the same text everywhere', async () => {
    kernel.verdictOf = () => 'DENY';
    const run = await ended();
    const { id: runId, taskId, steps } = run;
    const { id: stepId, decisionId, receiptId } = steps[1] ?? {};
    expect([run.status, run.outcome, run.error, steps[1]?.error]).toEqual(['denied', 'deny', denial, denial]);
    expect(await violations()).toEqual([
      {
        ...{ workspaceId: person.workspace.id, taskId, runId, stepId, source: 'kernel', tool: 'files.write' },
        ...{ reasonCode: denial.code, reason: denial.message, decisionId, receiptId },
      },
    ]);
    const denied = { verdict: 'deny', reason: denial.code };
    expect(await logOf(person)).toEqual([
      ...entries.begun(run),
      entries.stepEntryOf(run, 0),
      entries.stepEntryOf(run, 1, denied),
      entries.entryOf(run, 'run.denied', { ...denied, details: { taskId, outcome: 'deny' } }),
    ]);
    const metadata = { status: 'denied', outcome: 'deny', errorCode: denial.code };
    expect((await evidenceOf(database, runId)).slice(2)).toMatchObject([
      { kind: 'step_settled', contentHash: evidenceHash(null), metadata: { decisionId, verdict: 'DENY' } },
      { kind: 'run_ended', contentHash: evidenceHash(null), metadata },
    ]);
  });

  it('for a temporarily unreadable fact ends no run: the model repeats it', async () => {
    let denials = 0;
    kernel.denialReason = 'REGISTRY_UNAVAILABLE';
    kernel.verdictOf = () => ((denials += 1) === 1 ? 'DENY' : 'ALLOW');
    const write = { calls: [{ name: 'files__write', args: { path: 'a' } }] };
    kernel.say = (messages) => {
      const message = String(messages.findLast(({ role }) => role === 'tool')?.content ?? 'Repeat it');
      return message.includes('Repeat it') ? write : { text: 'All done.' };
    };
    const run = await ended();
    expect([run.status, run.result]).toEqual(['completed', 'All done.']);
    expect(run.steps.map(({ verdict }) => verdict)).toEqual(['ALLOW', 'DENY', 'ALLOW', 'ALLOW', 'ALLOW']);
  });

  it.each([
    ['TOOL_BLOCKED', 'a setting of the workspace denies it'],
    ['POLICY_DENIED', 'the policy of the workspace denies it'],
  ])('with %s is reported to the model with the text: %s', async (code, words) => {
    await setTo({ maxIterationBudget: 25, blockedTools: [], deniedCall: 'tell' });
    kernel.denialReason = code;
    kernel.verdictOf = () => 'DENY';
    const { id } = await ended();
    const outputs = await rowsOf<{ output: string }>(database, 'SELECT output FROM run_steps WHERE run_id = $1', [id]);
    expect(outputs.map(({ output }) => String(output)).join()).toContain(words);
  });

  it('is stored as the answer that the model reads when it is reported', async () => {
    await setTo({ maxIterationBudget: 25, blockedTools: [], deniedCall: 'tell' });
    kernel.verdictOf = () => 'DENY';
    const run = await ended();
    const [step] = await rowsOf<{ output: string }>(
      database,
      'SELECT output FROM run_steps WHERE run_id = $1 AND seq = 2',
      [run.id],
    );
    expect(JSON.parse(step?.output ?? '')).toEqual({ content: expect.stringContaining(denial.code), isError: true });
    expect([run.status, run.error, run.steps[1]?.error]).toEqual(['completed', null, denial]);
    expect(await logOf(person)).toEqual([
      ...entries.begun(run),
      entries.stepEntryOf(run, 0),
      entries.stepEntryOf(run, 1, { verdict: 'deny', reason: denial.code }),
      entries.stepEntryOf(run, 2),
      entries.entryOf(run, 'run.completed', { details: { taskId: run.taskId, outcome: 'allow' } }),
    ]);
    expect(await violations()).toHaveLength(1);
  });
});

it('a run without iterations left is a violation without a step or a decision', async () => {
  await setTo({ maxIterationBudget: 1, blockedTools: [], deniedCall: 'end' });
  const run = await ended();
  const { id: runId, taskId } = run;
  expect(run).toMatchObject({ status: 'budget_exhausted', outcome: 'deny', result: null });
  const { code, message } = run.error ?? {};
  expect(code).toBe('ITERATION_BUDGET_EXHAUSTED');
  expect(await violations()).toEqual([
    {
      ...{ workspaceId: person.workspace.id, taskId, runId, stepId: null, source: 'workspace', tool: null },
      ...{ reasonCode: code, reason: message, decisionId: null, receiptId: null },
    },
  ]);
  expect((await logOf(person)).at(-1)).toEqual(
    entries.entryOf(run, 'run.budget_exhausted', {
      ...{ verdict: 'deny', reason: code, details: { taskId, outcome: 'deny' } },
    }),
  );
  const metadata = { status: 'budget_exhausted', outcome: 'deny', errorCode: code };
  expect((await evidenceOf(database, runId)).at(-1)).toMatchObject({ kind: 'run_ended', metadata });
});

describe('a call without a result', () => {
  it.each([
    ['after a failure of the model', 'UPSTREAM_FAILED', null],
    ['after an answer of the kernel without a proof', 'RECEIPT_UNVERIFIED', 'unreachable/degraded'],
  ] as const)(
    'to the model, %s, counts as an iteration, and the run fails with its code',
    async (_why, code, outcome) => {
      if (outcome === null) kernel.say = () => ({ calls: Array(200).fill({ name: 'files__write', args: {} }) });
      else kernel.fault = 'unsigned';
      const run = await ended();
      expect(run).toMatchObject({
        status: 'failed',
        outcome,
        iterationsUsed: 1,
        tokensIn: 0,
        tokensOut: 0,
        costMinor: 0,
      });
      expect([run.error?.code, run.steps.map(({ error }) => error)]).toEqual([code, [run.error]]);
      const failed = { verdict: 'fail', reason: code };
      expect(await logOf(person)).toEqual([
        ...entries.begun(run),
        entries.stepEntryOf(run, 0, failed),
        entries.entryOf(run, 'run.failed', { ...failed, details: { taskId: run.taskId, outcome } }),
      ]);
      expect(await violations()).toEqual([]);
      const metadata = { status: 'failed', outcome, errorCode: code };
      expect((await evidenceOf(database, run.id)).slice(1)).toMatchObject([{ kind: 'run_ended', metadata }]);
    },
  );

  it('to a tool fails the run likewise, and counts as no iteration', async () => {
    kernel.beforeModelAnswer = () => Promise.resolve(void (kernel.fault = 'foreign_key'));
    const run = await ended();
    expect(run).toMatchObject({ status: 'failed', outcome: 'unreachable/degraded', iterationsUsed: 1 });
    expect(run.steps[1]).toMatchObject({ kind: 'tool_call', verdict: null, error: { code: 'RECEIPT_UNVERIFIED' } });
    expect((await logOf(person))[3]).toEqual(
      entries.stepEntryOf(run, 1, { verdict: 'fail', reason: 'RECEIPT_UNVERIFIED' }),
    );
  });
});

it('tools that the kernel does not list fail the run before any step', async () => {
  kernel.fault = 'no_tools';
  const run = await ended();
  expect(run).toMatchObject({ status: 'failed', outcome: 'unreachable/degraded', steps: [], iterationsUsed: 0 });
  expect(run.error).toEqual({ code: expect.stringMatching(/^[A-Z_]+$/), message: expect.stringMatching(/./) });
  expect(await logOf(person)).toEqual([
    ...entries.begun(run),
    entries.entryOf(run, 'run.failed', {
      ...{ verdict: 'fail', reason: run.error?.code },
      details: { taskId: run.taskId, outcome: 'unreachable/degraded' },
    }),
  ]);
});

it('the gateway alone answers a call with unreadable arguments, and reports it to the model', async () => {
  kernel.say = (messages) =>
    messages.some((message) => message.role === 'tool')
      ? { text: 'All done.' }
      : { calls: [{ id: 'call_7', name: 'files__write', args: [] }] };
  const run = await ended();
  const code = 'MALFORMED_ARGUMENTS';
  const message = 'The arguments of a tool call must be one JSON object.';
  const refused = run.steps[1];
  expect(refused).toMatchObject({ kind: 'tool_call', tool: 'files.write', verdict: null, error: { code, message } });
  expect(refused?.endedAt).not.toBeNull();
  const kept = await rowsOf(
    database,
    'SELECT seq, call_id AS "callId", args, output::jsonb AS output FROM run_steps WHERE id = $1',
    [refused?.id],
  );
  expect(kept).toEqual([{ seq: 2, callId: 'call_7', args: '{}', output: { content: message, isError: true } }]);
  const details = { runId: run.id, tool: 'files.write' };
  expect((await logOf(person))[3]).toEqual(entries.stepEntryOf(run, 1, { verdict: 'deny', reason: code, details }));
});
