import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { kernelApprovalResolved } from '@countersign/contracts/governance-kernel';
import type { TestDatabase } from '@countersign/database/testing';
import { until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { ulid } from 'ulid';
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
  type GatewayClient,
  type Person,
} from './_gateway.ts';
import { kernelAsks, messageHandled } from './_key-calls.ts';
import { KernelStub } from './_kernel-stub.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let person: Person;
const kernel = new KernelStub();
/** Runs on each answer between kernel and gateway. */
let onAnswer: (path: string) => void | Promise<void> = () => undefined;

const network: typeof fetch = async (input, init) => {
  const answer = await fetch(input, init);
  await onAnswer(new URL(input instanceof Request ? input.url : input).pathname);
  return answer;
};

beforeAll(async () => {
  database = await testDatabase();
  await kernel.start();
  const config = testConfig(database, {
    GOV_GOVERNANCE_URL: kernel.url,
    GOV_FAIL_CLOSED: '1',
    GOV_GOVERNANCE_TIMEOUT: '4s',
  });
  gateway = await startTestGateway(config, { fetch: network });
});

beforeEach(async () => {
  kernel.verdictOf = () => 'ESCALATE';
  kernel.judgesAnswers = true;
  kernel.say = (messages) =>
    messages.some((message) => message.role === 'tool')
      ? { text: 'All done.' }
      : { calls: [{ name: 'files__write', args: { path: 'a' } }] };
  person = await signInAs(gateway.url, `ada-${crypto.randomUUID()}@example.org`);
});

afterEach(() => {
  onAnswer = () => undefined;
  kernel.executed.length = 0;
  kernel.approvals.clear();
});

afterAll(async () => {
  await gateway?.stop();
  await kernel.kill();
  await database?.drop();
});

/** Starts a run that waits for an approval. */
async function parkedRun() {
  const { taskId, runId } = await startRun(person);
  await runReaching(person, taskId, ['awaiting_approval']);
  return { taskId, runId, approval: await pendingOf(runId) };
}

async function pendingOf(runId: string) {
  const { body } = await person.client.listWorkspaceApprovals({ query: { status: 'pending' } });
  const found = body.data.find((approval) => approval.runId === runId);
  if (found === undefined) throw new Error('The run has no pending approval');
  return found;
}

function approve(client: GatewayClient, { id }: { id: string }) {
  return client.resolveWorkspaceApproval({ params: { id }, body: { status: 'approved' } });
}

async function partner(email: string): Promise<GatewayClient> {
  const { user, headers } = await signInAs(gateway.url, `${email}-${crypto.randomUUID()}@example.org`);
  const workspaceId = person.workspace.id;
  await putMember(database, { workspaceId, userId: user.id, role: 'partner' });
  return clientOf(gateway.url, { ...headers, 'x-workspace-id': workspaceId });
}

/** Publishes the kernel's event about a resolved approval. Returns the message ID. */
async function kernelSays(
  { kernelApprovalId, sessionId }: { kernelApprovalId: string; sessionId: string },
  changes: object,
) {
  const data = {
    approval_id: kernelApprovalId,
    tenant_id: person.workspace.id,
    session_id: sessionId,
    state: 'denied',
    resolved_by: 'carol',
    rejection_reason: 'Not to this customer.',
    resolved_at: new Date().toISOString(),
    ...changes,
  } as never; // checked by the definition of the event
  const { event } = gateway.context.newEvent(kernelApprovalResolved, data);
  const { id, type } = event;
  await gateway.context.bus.publish([{ id, type, body: JSON.stringify(event), needsConsumer: false }]);
  return id;
}

describe('a run that ends while its approval request is open', () => {
  const cancel = (id: string) => person.client.putTaskStatus({ params: { id }, body: { status: 'cancelled' } });

  verifies('gw.run.escalate', 'withdraws the request at the kernel, also after an outage of the kernel', async () => {
    const { taskId, approval } = await parkedRun();
    await kernel.kill();
    await cancel(taskId);
    expect(kernel.approvals.get(approval.kernelApprovalId).state).toBe('pending');
    await kernel.start();
    await until(() => kernel.approvals.get(approval.kernelApprovalId).state === 'revoked');
    expect(kernel.roles.at(-1)).toBe('agent');
  });

  verifies('gw.run.escalate', 'withdraws an approval that it has not used', async () => {
    kernel.approvals.timelockSeconds = 600;
    const { taskId, approval } = await parkedRun();
    await approve(person.client, approval);
    await cancel(taskId);
    await until(() => kernel.approvals.get(approval.kernelApprovalId).state === 'revoked');
  });

  verifies('gw.run.escalate', 'withdraws its own requests and not those of another agent in its session', async () => {
    const { taskId, runId, approval } = await parkedRun();
    const own = kernel.approvals.get(approval.kernelApprovalId);
    const question = { tenant: person.workspace.id, session: runId, tool: 'files.write', intent: 'theirs' };
    // The kernel lists the newest first.
    kernel.approvals.clear();
    const theirs = kernel.approvals.open(`apr_${ulid()}`, `rcp_${ulid()}`, { ...question, requestedBy: 'helper' });
    kernel.approvals.open(own.id, own.receiptId, own);
    await cancel(taskId);
    await until(() => kernel.approvals.get(own.id).state === 'revoked');
    expect(theirs.state).toBe('pending');
  });

  verifies('gw.run.escalate', 'withdraws a request that the kernel reports after the end', async () => {
    const { taskId, runId } = await parkedRun();
    await cancel(taskId);
    await until(() => kernel.approvals.get(kernel.approvals.ids[0] ?? '').state === 'revoked');
    const workspaceId = person.workspace.id;
    const approvalId = `apr_${ulid()}`;
    const question = { tenant: workspaceId, session: runId, tool: 'files.write', intent: 'late' };
    kernel.approvals.open(approvalId, `rcp_${ulid()}`, question);
    await kernelAsks(gateway, { approvalId, principal: `agent:${workspaceId}`, workspaceId, sessionId: runId });
    await until(() => kernel.approvals.get(approvalId).state === 'revoked');
  });
});

describe('an approval that was decided in the kernel', () => {
  verifies('gw.run.escalate', 'ends its run with the reason of the rejection', async () => {
    const { taskId, approval } = await parkedRun();
    await kernelSays(approval, {});
    const error = { code: 'APPROVAL_REJECTED', message: 'The approval was rejected: Not to this customer.' };
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'denied', error });
    const { body } = await person.client.listAudit({ query: { action: 'approval.rejected' } });
    expect(body.data).toMatchObject([{ actor: 'carol', subject: approval.id }]);
    expect(kernel.executed).toEqual([]);
  });

  verifies('gw.run.escalate', 'ends its run with the reason of its early expiry', async () => {
    const { taskId, approval } = await parkedRun();
    await kernelSays(approval, { state: 'expired', resolved_by: null, rejection_reason: 'The policy was replaced' });
    const error = { code: 'APPROVAL_EXPIRED', message: 'The policy was replaced.' };
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'denied', error });
  });

  verifies('gw.run.escalate', 'continues the run, also when it was decided before the run was parked', async () => {
    kernel.judgesAnswers = false;
    const started = startRun(person);
    const parking = new Promise<void>((parked) => {
      onAnswer = async () => {
        const [askedFor] = kernel.approvals.ids;
        if (askedFor === undefined) return;
        onAnswer = () => undefined;
        Object.assign(kernel.approvals.get(askedFor), { state: 'approved', approvedBy: ['carol'] });
        const { runId } = await started;
        const statement = { state: 'approved', resolved_by: 'carol', rejection_reason: null };
        const messageId = await kernelSays({ kernelApprovalId: askedFor, sessionId: runId }, statement);
        // The message is handled before the run is parked.
        await messageHandled(database, messageId);
        parked();
      };
    });
    await parking;
    const { taskId } = await started;
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed', outcome: 'allow' });
  });

  it('changes no approval when the message names another workspace', async () => {
    const { runId, approval } = await parkedRun();
    const stranger = await signInAs(gateway.url, `eve-${crypto.randomUUID()}@example.org`);
    await kernelSays(approval, { tenant_id: stranger.workspace.id });
    const second = await parkedRun();
    await kernelSays(second.approval, { resolved_by: 'carol' });
    await runReaching(person, second.taskId);
    expect(await pendingOf(runId)).toMatchObject({ status: 'pending' });
  });

  verifies('gw.run.escalate', 'continues the run, also when the request that carried the vote died', async () => {
    const { taskId, approval } = await parkedRun();
    Object.assign(kernel.approvals.get(approval.kernelApprovalId), { state: 'approved', approvedBy: [person.user.id] });
    await kernelSays(approval, { state: 'approved', resolved_by: person.user.id, rejection_reason: null });
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed', outcome: 'allow' });
    const { body } = await person.client.listWorkspaceApprovals({ query: { status: 'approved' } });
    expect(body.data[0]).toMatchObject({ id: approval.id, resolvedBy: person.user.id });
  });
});

describe('an approval', () => {
  verifies('gw.approvals', 'that is rejected ends its run with the reason of the rejection', async () => {
    const { taskId, approval } = await parkedRun();
    const body = { status: 'rejected', reason: 'Ask again on Monday.' } as const;
    await person.client.resolveWorkspaceApproval({ params: { id: approval.id }, body });
    const error = { code: 'APPROVAL_REJECTED', message: 'The approval was rejected: Ask again on Monday.' };
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'denied', error });
  });

  verifies('gw.approvals', 'stays pending until both people have voted when the kernel requires two', async () => {
    kernel.approvals.quorum = 2;
    const spoke = kernel.roles.length;
    const [first, second] = [await partner('first'), await partner('second')];
    const { taskId, approval } = await parkedRun();
    expect((await approve(first, approval)).body).toMatchObject({ status: 'pending', resolvedBy: null });
    expect((await approve(first, approval)).body).toMatchObject({ status: 'pending' });
    expect(kernel.approvals.votes).toHaveLength(1);
    expect(await runReaching(person, taskId, ['awaiting_approval'])).toMatchObject({ endedAt: null });
    const { body: audit } = await person.client.listAudit({ query: { action: 'approval.vote' } });
    expect(audit.data[0]).toMatchObject({ subject: approval.id, verdict: 'allow' });
    expect((await approve(second, approval)).body).toMatchObject({ status: 'approved' });
    const people = kernel.roles.slice(spoke).filter((role) => role !== 'agent');
    expect(people).toEqual(['partner', 'partner']);
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed' });
    expect(kernel.executed).toMatchObject([{ grant: approval.kernelApprovalId }]);
  });

  verifies(
    'gw.approvals',
    'of a workspace with passkeys can only be decided on its page: the gateway refuses all votes',
    async () => {
      const { approval } = await parkedRun();
      kernel.approvals.isKeyed = true;
      for (const status of ['approved', 'rejected'] as const) {
        const answer = person.client.resolveWorkspaceApproval({ params: { id: approval.id }, body: { status } });
        await expect(answer).rejects.toMatchObject({ code: 'PASSKEY_REQUIRED' });
      }
      expect(await pendingOf(approval.sessionId)).toMatchObject({ id: approval.id, resolvedAt: null });
    },
  );

  it('is pending again here, without a duplicate, when the kernel opens it again', async () => {
    const { taskId, runId, approval } = await parkedRun();
    onAnswer = (path) => {
      if (!path.endsWith('/approve')) return;
      onAnswer = () => undefined;
      Object.assign(kernel.approvals.get(approval.kernelApprovalId), { state: 'pending', approvedBy: [] });
    };
    await approve(person.client, approval);
    const again = await runReaching(person, taskId, ['awaiting_approval']);
    expect(await pendingOf(runId)).toMatchObject({ id: approval.id, resolvedBy: null, resolvedAt: null });
    expect(again.error).toBeNull();
    await approve(person.client, approval);
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed' });
    expect(await rowsOf(database, 'SELECT 1 FROM approvals WHERE run_id = $1', [runId])).toHaveLength(1);
  });

  it('that already belongs to another run parks no second run, which fails closed instead', async () => {
    const second = await parkedRun();
    kernel.judgesAnswers = false;
    onAnswer = async (path) => {
      if (path !== '/mcp/v1/execute') return;
      const values = [kernel.approvals.ids.at(-1), second.runId];
      await rowsOf(database, 'UPDATE approvals SET kernel_approval_id = $1 WHERE run_id = $2', values);
    };
    const { taskId, runId } = await startRun(person);
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'failed', outcome: 'unreachable/degraded' });
    expect(await rowsOf(database, 'SELECT 1 FROM approvals WHERE run_id = $1', [runId])).toEqual([]);
  });

  verifies('gw.run.escalate', 'serves one call: the same call made again requests another approval', async () => {
    kernel.say = (messages) =>
      messages.some((message) => message.role === 'tool')
        ? { text: 'All done.' }
        : { calls: [1, 2].map(() => ({ name: 'files__write', args: { path: 'a' } })) };
    const { taskId, runId, approval } = await parkedRun();
    await approve(person.client, approval);
    await runReaching(person, taskId, ['awaiting_approval']);
    const second = await pendingOf(runId);
    expect(second.kernelApprovalId).not.toBe(approval.kernelApprovalId);
    expect(kernel.executed).toHaveLength(1);
    await approve(person.client, second);
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed', outcome: 'allow' });
    expect(kernel.executed.map(({ grant }) => grant)).toEqual([approval.kernelApprovalId, second.kernelApprovalId]);
  });

  verifies('gw.approvals', 'counts a vote once, also when the answer of the kernel is lost', async () => {
    const { taskId, approval } = await parkedRun();
    let isLost = false;
    onAnswer = (path) => {
      if (isLost || !path.endsWith('/approve')) return;
      isLost = true;
      throw new TypeError('The connection was reset');
    };
    expect((await approve(person.client, approval)).body).toMatchObject({ status: 'approved' });
    expect([isLost, kernel.approvals.votes.length]).toEqual([true, 1]);
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed' });
  });

  it('is not voted on again while it is unknown whether the vote arrived', async () => {
    const { approval } = await parkedRun();
    let casts = 0;
    onAnswer = (path) => {
      if (!path.endsWith('/approve')) return;
      casts += 1;
      Object.assign(kernel.approvals.get(approval.kernelApprovalId), { state: 'pending', approvedBy: [] });
      throw new TypeError('The connection was reset');
    };
    await expect(approve(person.client, approval)).rejects.toMatchObject({ code: 'GOVERNANCE_UNAVAILABLE' });
    expect(casts).toBe(1);
  });

  it('counts two votes that are cast at the same time', async () => {
    kernel.approvals.quorum = 2;
    const [first, second] = [await partner('first'), await partner('second')];
    const { taskId, approval } = await parkedRun();
    const votes = await Promise.all([approve(first, approval), approve(second, approval)]);
    expect(votes.map(({ body }) => body.status)).toContain('approved');
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed' });
  });

  verifies('gw.approvals', 'of a cancelled run is cancelled with it, in the log too, and its step ends', async () => {
    const { taskId, runId, approval } = await parkedRun();
    await person.client.putTaskStatus({ params: { id: taskId }, body: { status: 'cancelled' } });
    const run = await runReaching(person, taskId, ['cancelled']);
    expect(run.steps.at(-1)).toMatchObject({ endedAt: expect.any(String), error: { code: 'RUN_ENDED' } });
    const { body: log } = await person.client.listAudit({ query: { action: 'approval.cancelled' } });
    expect(log.data).toMatchObject([{ subject: approval.id, actor: person.user.id, details: { runId } }]);
    const events = await rowsOf<{ data: object }>(
      database,
      `SELECT envelope::jsonb -> 'data' AS data FROM outbox WHERE type LIKE '%approval.resolved%' AND envelope LIKE $1`,
      [`%${runId}%`],
    );
    expect(events).toMatchObject([{ data: { approvalId: approval.id, status: 'cancelled' } }]);
    await expect(approve(person.client, approval)).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
  });

  it('is not requested by a run that was cancelled in the meantime, and the step ends', async () => {
    kernel.judgesAnswers = false;
    const started = startRun(person);
    onAnswer = async (path) => {
      if (path !== '/mcp/v1/execute') return;
      const params = { id: (await started).taskId };
      await person.client.putTaskStatus({ params, body: { status: 'cancelled' } });
    };
    const { taskId, runId } = await started;
    const steps = () => runReaching(person, taskId, ['cancelled']).then((run) => run.steps);
    await until(async () => (await steps()).at(-1)?.endedAt !== null);
    await until(() => kernel.approvals.ids.every((id) => kernel.approvals.get(id).state === 'revoked'));
    expect((await steps()).at(-1)).toMatchObject({ verdict: 'ESCALATE', error: { code: 'RUN_ENDED' } });
    expect(await rowsOf(database, 'SELECT 1 FROM approvals WHERE run_id = $1', [runId])).toEqual([]);
  });
});

describe('a call with unreadable arguments', () => {
  verifies('gw.audit', 'is refused, reported to the model and recorded in the log', async () => {
    kernel.judgesAnswers = false;
    kernel.say = (messages) =>
      messages.some((message) => message.role === 'tool')
        ? { text: 'All done.' }
        : { calls: [{ name: 'files__write', args: [] }] };
    const { taskId } = await startRun(person);
    const run = await runReaching(person, taskId);
    expect(run).toMatchObject({ status: 'completed' });
    const { body: log } = await person.client.listAudit({ query: { action: 'step.tool_call' } });
    expect(log.data).toMatchObject([{ subject: run.steps[1]?.id, verdict: 'deny', reason: 'MALFORMED_ARGUMENTS' }]);
  });
});
