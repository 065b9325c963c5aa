import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import type { StartedGateway } from '../src/index.ts';
import {
  clientOf,
  putMember,
  rowsOf,
  runReaching,
  signInAs,
  startRun,
  startTestGateway,
  testConfig,
  testDatabase,
  testExchange,
  type Person,
} from './_gateway.ts';
import { KernelStub } from './_kernel-stub.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let person: Person;
const amqpUrl = process.env['AMQP_URL'];
const broker = amqpUrl === undefined ? null : testExchange(amqpUrl);
const kernel = new KernelStub();

beforeAll(async () => {
  database = await testDatabase();
  await kernel.start();
  const config = testConfig(database, {
    GOV_GOVERNANCE_URL: kernel.url,
    GOV_FAIL_CLOSED: '1',
    GOV_GOVERNANCE_TIMEOUT: '6s',
    ...(broker === null ? {} : { AMQP_URL: broker.amqpUrl, GOV_AMQP_EXCHANGE: broker.exchange }),
  });
  gateway = await startTestGateway(config);
  person = await signInAs(gateway.url, 'ada@example.org');
});

const workspaceParams = () => ({ id: person.workspace.id });

async function setDeniedCall(deniedCall: 'end' | 'tell', maxIterationBudget = 25): Promise<void> {
  const policyConfig = { maxIterationBudget, blockedTools: [], deniedCall };
  await settings({ params: workspaceParams(), body: { policyConfig } });
}

async function settings(body: Parameters<Person['client']['putWorkspaceSettings']>[0]): Promise<void> {
  await person.client.putWorkspaceSettings(body);
}

beforeEach(async () => {
  await settings({
    params: workspaceParams(),
    body: {
      policyConfig: { maxIterationBudget: 25, blockedTools: [], deniedCall: 'end' },
      budgetConfig: { monthlyLlmBudget: 100, currency: 'USD' },
      modelConfig: { provider: 'default', model: 'default', temperature: 0.7 },
    },
  });
  kernel.fault = 'none';
  kernel.verdictOf = () => 'ALLOW';
  kernel.judgesAnswers = true;
  kernel.executed.length = 0;
  kernel.approvals.clear();
  kernel.beforeModelAnswer = async () => undefined;
  kernel.say = (messages) =>
    messages.some((message) => message.role === 'tool')
      ? { text: 'All done.' }
      : { calls: [{ name: 'files__write', args: { path: 'a' } }] };
});

afterAll(async () => {
  await gateway?.stop();
  await kernel.kill();
  await broker?.remove();
  await database?.drop();
});

describe('a run', () => {
  verifies(
    'gw.task.run',
    'is answered before the work is done, and has steps with decisions and verified receipts',
    async () => {
      const requests: (() => void)[] = [];
      kernel.beforeModelAnswer = () => new Promise((answer) => requests.push(answer));
      const { taskId } = await startRun(person);
      expect((await person.client.listRuns({ params: { id: taskId } })).body.data[0]?.endedAt).toBeNull();
      await until(async () => requests.length > 0);
      kernel.beforeModelAnswer = async () => undefined;
      for (const answer of requests) answer();
      const run = await runReaching(person, taskId);
      expect(run).toMatchObject({
        status: 'completed',
        outcome: 'allow',
        result: 'All done.',
        iterationsUsed: 2,
        tokensIn: 20,
        tokensOut: 10,
      });
      expect(run.steps.map((step) => [step.kind, step.tool, step.verdict])).toEqual([
        ['model_call', null, 'ALLOW'],
        ['tool_call', 'files.write', 'ALLOW'],
        ['model_call', null, 'ALLOW'],
      ]);
      expect(kernel.executed).toEqual([
        { tool: 'files.write', args: { path: 'a' }, key: run.steps[1]?.id, grant: undefined },
      ]);
      for (const step of run.steps) {
        const { body } = await person.client.getGovernanceReceipt({ params: { decisionId: step.decisionId ?? '' } });
        expect(body).toMatchObject({ verification: 'verified', receiptId: step.receiptId, runId: run.id });
      }
    },
  );
});

describe('a refused action', () => {
  const ways = [
    ['withheld from the answer of the model', true],
    ['refused when it is executed', false],
  ] as const;

  it.each(ways)('that is %s ends the run as denied and is a violation', async (_way, judgesAnswers) => {
    kernel.judgesAnswers = judgesAnswers;
    kernel.verdictOf = () => 'DENY';
    const { taskId } = await startRun(person);
    const run = await runReaching(person, taskId);
    expect(run).toMatchObject({ status: 'denied', outcome: 'deny', error: { code: 'POLICY_DENIED' } });
    expect(run.steps[1]).toMatchObject({
      kind: 'tool_call',
      tool: 'files.write',
      verdict: 'DENY',
      reasonCode: 'POLICY_DENIED',
    });
    expect(kernel.executed).toEqual([]);
    expect((await person.client.listTasks()).body.data[0]).toMatchObject({ id: taskId, status: 'failed' });
  });

  it.each(ways)(
    'that is %s is reported to the model when the workspace setting requires it',
    async (_way, judgesAnswers) => {
      await setDeniedCall('tell');
      kernel.judgesAnswers = judgesAnswers;
      kernel.verdictOf = (tool) => (tool === 'files.read' ? 'ALLOW' : 'DENY');
      const seen: unknown[] = [];
      kernel.say = (messages) => {
        seen.push(messages.at(-1));
        if (seen.length === 1) return { calls: [{ name: 'files__write', args: {} }] };
        return seen.length === 2 ? { calls: [{ name: 'files__read', args: {} }] } : { text: 'Read it instead' };
      };
      const { taskId, runId } = await startRun(person);
      const run = await runReaching(person, taskId);
      await setDeniedCall('end');
      expect(run).toMatchObject({
        status: 'completed',
        outcome: 'allow',
        result: 'Read it instead',
        iterationsUsed: 3,
      });
      expect(run.steps.map(({ tool, verdict, error }) => [tool, verdict, error?.code])).toEqual([
        [null, 'ALLOW', undefined],
        ['files.write', 'DENY', 'POLICY_DENIED'],
        [null, 'ALLOW', undefined],
        ['files.read', 'ALLOW', undefined],
        [null, 'ALLOW', undefined],
      ]);
      expect(kernel.executed.map(({ tool }) => tool)).toEqual(['files.read']);
      expect(seen[1]).toMatchObject({ role: 'tool', content: expect.stringContaining('POLICY_DENIED') });
      const { body } = await person.client.listViolations();
      expect(body.data.filter((violation) => violation.runId === runId)).toHaveLength(1);
    },
  );

  it('that the model repeats ends the run with its last iteration, and a freeze of the system ends it at once', async () => {
    await setDeniedCall('tell', 3);
    kernel.verdictOf = () => 'DENY';
    kernel.say = () => ({ calls: [{ name: 'files__write', args: {} }] });
    const stubborn = await runReaching(person, (await startRun(person)).taskId);
    expect(stubborn).toMatchObject({ status: 'budget_exhausted', iterationsUsed: 3 });
    kernel.denialReason = 'SYSTEM_FROZEN';
    const frozen = await runReaching(person, (await startRun(person)).taskId);
    kernel.denialReason = 'POLICY_DENIED';
    await setDeniedCall('end');
    expect(frozen).toMatchObject({ status: 'denied', error: { code: 'SYSTEM_FROZEN' }, iterationsUsed: 1 });
  });

  verifies('gw.violations', 'is listed with its decision and receipt', async () => {
    kernel.verdictOf = () => 'DENY';
    const { taskId, runId } = await startRun(person);
    const run = await runReaching(person, taskId);
    const { body } = await person.client.listViolations();
    const step = run.steps[1];
    expect(body.data.filter((violation) => violation.runId === runId)).toMatchObject([
      {
        source: 'kernel',
        tool: 'files.write',
        reasonCode: 'POLICY_DENIED',
        decisionId: step?.decisionId,
        receiptId: step?.receiptId,
      },
    ]);
  });

  it('is not lost behind an allowed call to which the model gave the same id', async () => {
    kernel.verdictOf = (tool) => (tool === 'files.read' ? 'ALLOW' : 'DENY');
    kernel.say = () => ({
      calls: ['files__read', 'files__write', 'files__read'].map((name) => ({ id: 'call_0', name, args: {} })),
    });
    const { taskId, runId } = await startRun(person);
    const run = await runReaching(person, taskId);
    expect(run).toMatchObject({ status: 'denied', error: { code: 'POLICY_DENIED' } });
    expect(run.steps.map(({ tool, verdict }) => [tool, verdict])).toEqual([
      [null, 'ALLOW'],
      ['files.read', 'ALLOW'],
      ['files.write', 'DENY'],
    ]);
    const { body } = await person.client.listViolations();
    expect(body.data.filter((violation) => violation.runId === runId)).toHaveLength(1);
  });

  for (const [way, judgesAnswers] of ways) {
    verifies(
      'gw.run.escalate',
      `that is ${way} and escalated parks the run; approving resumes it and executes it once, under the grant`,
      async () => {
        kernel.judgesAnswers = judgesAnswers;
        kernel.verdictOf = () => 'ESCALATE';
        const { taskId, runId } = await startRun(person);
        const parked = await runReaching(person, taskId, ['awaiting_approval']);
        expect(parked).toMatchObject({ outcome: 'escalate', endedAt: null });
        expect(kernel.executed).toEqual([]);
        const { body: pending } = await person.client.listWorkspaceApprovals({ query: { status: 'pending' } });
        const [approval] = pending.data.filter((one) => one.runId === runId);
        expect(approval).toMatchObject({
          tool: 'files.write',
          args: { path: 'a' },
          effectLevel: 'E2',
          demand: { toolCalls: 1, spendMicros: '0', egressBytes: 0, writes: 1 },
          reason: 'as the table says',
          requestedBy: `agent:${person.workspace.id}`,
          startedBy: person.user.id,
        });
        expect(kernel.approvals.ids).toEqual([approval?.kernelApprovalId]);
        const params = { id: approval?.id ?? '' };
        const votes = await Promise.allSettled(
          Array.from({ length: 4 }, () =>
            person.client.resolveWorkspaceApproval({ params, body: { status: 'approved' } }),
          ),
        );
        expect(votes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
        const run = await runReaching(person, taskId);
        expect(run).toMatchObject({ status: 'completed', outcome: 'allow' });
        const request = { approvalId: approval?.id, decisionId: approval?.decisionId };
        const step = run.steps.find(({ kind }) => kind === 'tool_call');
        expect(step).toMatchObject({ verdict: 'ALLOW', escalations: [{ ...request, status: 'approved' }] });
        expect(step?.decisionId).not.toBe(approval?.decisionId);
        expect(kernel.executed).toMatchObject([{ tool: 'files.write', grant: approval?.kernelApprovalId }]);
        expect(kernel.approvals.votes).toEqual([{ approver: person.user.id, action: 'approve' }]);
        expect(
          (await person.client.listWorkspaceApprovals({ query: { status: 'approved' } })).body.data[0],
        ).toMatchObject({ id: approval?.id, resolvedBy: person.user.id });
      },
    );
  }

  verifies('gw.run.escalate', 'whose approval is rejected is never executed, and the run ends as denied', async () => {
    kernel.verdictOf = () => 'ESCALATE';
    const { taskId, runId } = await startRun(person);
    await runReaching(person, taskId, ['awaiting_approval']);
    const id = await pendingApprovalOf(runId);
    const { body } = await person.client.resolveWorkspaceApproval({ params: { id }, body: { status: 'rejected' } });
    expect(body).toMatchObject({ status: 'rejected', resolvedBy: person.user.id });
    expect(await runReaching(person, taskId)).toMatchObject({
      status: 'denied',
      error: { code: 'APPROVAL_REJECTED' },
    });
    expect(kernel.executed).toEqual([]);
    await expect(
      person.client.resolveWorkspaceApproval({ params: { id }, body: { status: 'approved' } }),
    ).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    expect(kernel.approvals.votes).toEqual([{ approver: person.user.id, action: 'deny' }]);
  });

  verifies('gw.run.escalate', 'whose approval expires is never executed, and the run ends as denied', async () => {
    kernel.verdictOf = () => 'ESCALATE';
    kernel.approvals.lifeSeconds = 1;
    const { taskId } = await startRun(person);
    expect(await runReaching(person, taskId)).toMatchObject({
      status: 'denied',
      error: { code: 'APPROVAL_EXPIRED' },
    });
    expect(kernel.executed).toEqual([]);
    expect((await person.client.listWorkspaceApprovals({ query: { status: 'expired' } })).body.data).not.toHaveLength(
      0,
    );
  });

  verifies(
    'gw.approvals',
    'needs a decision by a person other than the starter of the run if there is one, and never by a member',
    async () => {
      kernel.verdictOf = () => 'ESCALATE';
      const partner = await signInAs(gateway.url, 'partner@example.org');
      const workspaceId = person.workspace.id;
      const join = (role: 'partner' | 'member') => putMember(database, { workspaceId, userId: partner.user.id, role });
      const theirs = clientOf(gateway.url, { ...partner.headers, 'x-workspace-id': workspaceId });
      await join('member');
      const { taskId, runId } = await startRun(person);
      await runReaching(person, taskId, ['awaiting_approval']);
      const request = { params: { id: await pendingApprovalOf(runId) }, body: { status: 'approved' as const } };
      await expect(theirs.resolveWorkspaceApproval(request)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
      await join('partner');
      await expect(person.client.resolveWorkspaceApproval(request)).rejects.toMatchObject({
        ...{ code: 'MAY_NOT_DECIDE', details: { reason: 'OWN_REQUEST' } },
      });
      expect(kernel.approvals.votes).toEqual([]);
      expect((await theirs.resolveWorkspaceApproval(request)).body.resolvedBy).toBe(partner.user.id);
      expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed' });
      await rowsOf(database, 'DELETE FROM workspace_members WHERE user_id = $1 AND workspace_id = $2', [
        partner.user.id,
        workspaceId,
      ]);
    },
  );

  it('stays undecided while the kernel cannot be reached', async () => {
    kernel.verdictOf = () => 'ESCALATE';
    const { taskId, runId } = await startRun(person);
    await runReaching(person, taskId, ['awaiting_approval']);
    const request = { params: { id: await pendingApprovalOf(runId) }, body: { status: 'approved' as const } };
    await kernel.kill();
    await expect(person.client.resolveWorkspaceApproval(request)).rejects.toMatchObject({
      code: 'GOVERNANCE_UNAVAILABLE',
    });
    expect(await runReaching(person, taskId, ['awaiting_approval'])).toMatchObject({ status: 'awaiting_approval' });
    await kernel.start();
    await person.client.resolveWorkspaceApproval(request);
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed' });
  });
});

describe('the settings of a workspace', () => {
  it.each([
    [{ provider: 'default', model: 'default' }, 'default'],
    [{ provider: 'default', model: 'large' }, 'large'],
    [{ provider: 'acme', model: 'large' }, 'acme/large'],
    [{ provider: 'acme', model: 'default' }, 'acme/default'],
  ])('select the model of %j under the name %s', async (chosen, name) => {
    await settings({ params: workspaceParams(), body: { modelConfig: { ...chosen, temperature: 0.7 } } });
    const { taskId, runId } = await startRun(person);
    await runReaching(person, taskId);
    const [step] = await rowsOf(database, 'SELECT args FROM run_steps WHERE run_id = $1 AND seq = 1', [runId]);
    expect(JSON.parse(String(step?.['args']))).toMatchObject({ model: name });
  });

  verifies('gw.run.budget', 'end a run that used its last iteration', async () => {
    kernel.say = () => ({ calls: [{ name: 'files__write', args: {} }] });
    await settings({
      params: workspaceParams(),
      body: { policyConfig: { maxIterationBudget: 3, blockedTools: [], deniedCall: 'end' } },
    });
    const callsBefore = kernel.modelCalls.length;
    const { taskId } = await startRun(person);
    expect(await runReaching(person, taskId)).toMatchObject({
      status: 'budget_exhausted',
      iterationsUsed: 3,
      outcome: 'deny',
      error: { code: 'ITERATION_BUDGET_EXHAUSTED' },
    });
    const { body: violations } = await person.client.listViolations({ query: { limit: 1 } });
    expect(violations.data).toMatchObject([{ taskId, source: 'workspace', reasonCode: 'ITERATION_BUDGET_EXHAUSTED' }]);
    expect(kernel.modelCalls.length - callsBefore).toBe(3);
  });
});

describe('governance', () => {
  verifies('gw.governance', 'shows whether the kernel answers now, and the verified receipts', async () => {
    const { taskId } = await startRun(person);
    const run = await runReaching(person, taskId);
    const { body: status } = await person.client.getGovernanceStatus();
    expect(status).toMatchObject({ configured: true, required: true, live: { ok: true, error: null } });
    expect(status.trustedKeyIds).toHaveLength(1);
    const { body: receipts } = await person.client.listGovernanceReceipts({ query: { limit: 3 } });
    expect(receipts.data.map(({ receiptId }) => receiptId).sort()).toEqual(
      run.steps.map(({ receiptId }) => receiptId ?? '').sort(),
    );
    await kernel.kill();
    expect((await person.client.getGovernanceStatus()).body.live).toMatchObject({ ok: false, error: 'unreachable' });
    await kernel.start();
  });
});

async function pendingApprovalOf(runId: string): Promise<string> {
  const { body } = await person.client.listWorkspaceApprovals({ query: { status: 'pending' } });
  const found = body.data.find((approval) => approval.runId === runId);
  if (found === undefined) throw new Error('The run has no pending approval');
  return found.id;
}
