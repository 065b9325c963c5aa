import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import type { GatewayConfig, StartedGateway } from '../src/index.ts';
import { sweep } from '../src/workers/sweep.ts';
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
import { kernelDecides } from './_key-calls.ts';
import { KernelStub } from './_kernel-stub.ts';

const lockSeconds = 600;
/** More than the accepted difference between the clocks of gateway and kernel. */
const skewMs = 45_000;
let aheadMs = 0;
const now = () => new Date(Date.now() + aheadMs);

let database: TestDatabase;
let config: GatewayConfig;
let gateway: StartedGateway;
let person: Person;
const kernel = new KernelStub();

beforeAll(async () => {
  database = await testDatabase();
  await kernel.start();
  config = testConfig(database, { GOV_GOVERNANCE_URL: kernel.url, GOV_FAIL_CLOSED: '1' });
  gateway = await startTestGateway(config, { now });
});

beforeEach(async () => {
  aheadMs = 0;
  kernel.executed.length = 0;
  kernel.approvals.clear();
  kernel.approvals.clock = now;
  kernel.approvals.timelockSeconds = lockSeconds;
  kernel.approvals.lifeSeconds = 3_600;
  kernel.verdictOf = () => 'ESCALATE';
  kernel.say = (messages) =>
    messages.some((message) => message.role === 'tool')
      ? { text: 'All done.' }
      : { calls: [{ name: 'files__write', args: { path: 'a' } }] };
  person = await signInAs(gateway.url, `ada-${crypto.randomUUID()}@example.org`);
});

afterAll(async () => {
  await gateway?.stop();
  await kernel.kill();
  await database?.drop();
});

/** Starts a run with a parked step. */
async function parkedRun() {
  const { taskId, runId } = await startRun(person);
  await runReaching(person, taskId, ['awaiting_approval']);
  const { body } = await person.client.listWorkspaceApprovals({ query: { status: 'pending' } });
  const approval = body.data.find((one) => one.runId === runId);
  if (approval === undefined) throw new Error('The run has no pending approval');
  return { taskId, approval };
}

/** Starts an approved run that waits for its time lock. */
async function heldRun() {
  const { taskId, approval } = await parkedRun();
  const params = { id: approval.id };
  const { body: snapshot } = await person.client.resolveWorkspaceApproval({ params, body: { status: 'approved' } });
  return { taskId, approval: snapshot };
}

const waiting = (taskId: string) => runReaching(person, taskId, ['awaiting_approval']);
const passLock = () => {
  aheadMs += lockSeconds * 1_000 + skewMs;
};
const isHeld = async (id: string) =>
  (await rowsOf<{ held: boolean }>(database, 'SELECT held FROM approvals WHERE id = $1', [id]))[0]?.held;

describe('a run whose approved call has to wait', () => {
  verifies(
    'gw.run.escalate',
    'waits, shows until when, and continues by itself, once, also after a restart',
    async () => {
      const { taskId, approval } = await heldRun();
      const lockedUntil = Date.parse(approval.timelockUntil ?? '');
      expect(approval).toMatchObject({ status: 'approved' });
      expect(Math.abs(lockedUntil - now().getTime() - lockSeconds * 1_000)).toBeLessThan(10_000);
      await sweep(gateway.context);
      const { steps } = await waiting(taskId);
      expect(steps.at(-1)?.escalations).toMatchObject([{ status: 'approved', timelockUntil: approval.timelockUntil }]);
      await gateway.stop();
      aheadMs += (lockSeconds - 30) * 1_000;
      gateway = await startTestGateway(config, { now });
      person = { ...person, client: (await signInAs(gateway.url, person.user.email ?? '')).client };
      await sweep(gateway.context);
      expect((await waiting(taskId)).status).toBe('awaiting_approval');
      expect(kernel.executed).toEqual([]);
      aheadMs += 30_000 + skewMs;
      await Promise.all(Array.from({ length: 8 }, () => sweep(gateway.context)));
      expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed', outcome: 'allow' });
      expect(kernel.executed).toMatchObject([{ grant: approval.kernelApprovalId }]);
    },
  );

  verifies('gw.run.escalate', 'also waits when it was approved on the page of the kernel', async () => {
    const { taskId, approval } = await parkedRun();
    const values = kernel.approvals.get(approval.kernelApprovalId);
    kernel.approvals.approve(values);
    await kernelDecides(gateway, approval, { state: 'approved', timelock_until: values.timelockUntil });
    await until(async () => (await isHeld(approval.id)) === true);
    await sweep(gateway.context);
    await waiting(taskId);
    passLock();
    await sweep(gateway.context);
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed' });
  });

  for (const [state, code] of [
    ['revoked', 'APPROVAL_REJECTED'],
    ['expired', 'APPROVAL_EXPIRED'],
  ] as const)
    verifies('gw.run.escalate', `ends when the approval is ${state} in the meantime, and never runs`, async () => {
      const { taskId, approval } = await heldRun();
      await kernelDecides(gateway, approval, { state, rejection_reason: null });
      expect(await runReaching(person, taskId)).toMatchObject({ status: 'denied', error: { code } });
      passLock();
      await sweep(gateway.context);
      expect((await runReaching(person, taskId)).status).toBe('denied');
      expect([kernel.executed, await isHeld(approval.id)]).toEqual([[], false]);
    });

  it('continues at once after break glass', async () => {
    const { taskId, approval } = await heldRun();
    kernel.approvals.get(approval.kernelApprovalId).timelockUntil = null;
    await kernelDecides(gateway, approval, { state: 'approved', timelock_until: null });
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed' });
  });

  it('stays cancelled when it was cancelled in the meantime', async () => {
    const { taskId, approval } = await heldRun();
    await person.client.putTaskStatus({ params: { id: taskId }, body: { status: 'cancelled' } });
    passLock();
    await sweep(gateway.context);
    expect((await runReaching(person, taskId)).status).toBe('cancelled');
    expect([kernel.executed, await isHeld(approval.id)]).toEqual([[], false]);
  });

  it('is not ended by a withdrawal after it has continued', async () => {
    const { taskId, approval } = await heldRun();
    passLock();
    await sweep(gateway.context);
    await runReaching(person, taskId);
    await kernelDecides(gateway, approval, { state: 'revoked' });
    await kernelDecides(gateway, (await parkedRun()).approval, { state: 'denied' });
    await until(
      async () => (await person.client.listAudit({ query: { action: 'approval.rejected' } })).body.data.length > 0,
    );
    expect((await runReaching(person, taskId)).status).toBe('completed');
    const { body } = await person.client.listWorkspaceApprovals({ query: { status: 'approved' } });
    expect(body.data.map(({ id }) => id)).toEqual([approval.id]);
  });
});
