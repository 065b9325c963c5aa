import { afterAll, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { verifies } from '@countersign/testkit/verifies';
import type { StartedGateway } from '../src/index.ts';
import {
  rowsOf,
  runReaching,
  signInAs,
  spendOf,
  startRun,
  startTestGateway,
  testConfig,
  testDatabase,
  type Person,
} from './_gateway.ts';
import { KernelStub } from './_kernel-stub.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let person: Person;
let reserved = 0;
const kernel = new KernelStub();

beforeAll(async () => {
  database = await testDatabase();
  await kernel.start();
  const more = { GOV_GOVERNANCE_URL: kernel.url, GOV_ADMIN_API_KEY: 'admin', GOV_GOVERNANCE_TIMEOUT: '1500ms' };
  gateway = await startTestGateway(testConfig(database, more));
});
beforeEach(async (): Promise<void> => {
  person = await signInAs(gateway.url, `${crypto.randomUUID()}@example.org`);
  kernel.tellsUsage = true;
  kernel.modelVerdict = 'ALLOW';
  kernel.say = () => ({ text: 'done' });
  kernel.beforeModelAnswer = async () => {
    ({ reserved } = await spendOf(database, person));
  };
});
afterAll(async () => {
  await gateway?.stop();
  await kernel.kill();
  await database?.drop();
});

describe('a call of the model', () => {
  verifies('gw.run.budget', 'that does not tell its use costs what was set aside for it', async () => {
    kernel.tellsUsage = false;
    const { taskId } = await startRun(person);
    const run = await runReaching(person, taskId);
    expect(run).toMatchObject({ status: 'completed', result: 'done', iterationsUsed: 1, tokensIn: 0, tokensOut: 0 });
    expect(reserved).toBeGreaterThan(0);
    expect(await spendOf(database, person)).toEqual({ spent: reserved, reserved: 0 });
    expect(run.costMinor).toBeGreaterThan(0);
  });

  verifies('gw.run.budget', 'that is not answered in time costs what was set aside for it', async () => {
    const late = kernel.beforeModelAnswer;
    kernel.beforeModelAnswer = async () => {
      await late();
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    };
    const { taskId } = await startRun(person);
    const run = await runReaching(person, taskId);
    expect(run).toMatchObject({ status: 'failed', error: { code: 'GOVERNANCE_TIMEOUT' }, iterationsUsed: 1 });
    expect(reserved).toBeGreaterThan(0);
    expect(await spendOf(database, person)).toEqual({ spent: reserved, reserved: 0 });
    expect(run.costMinor).toBeGreaterThan(0);
  });

  verifies('gw.run.budget', 'that the kernel refuses costs nothing', async () => {
    kernel.modelVerdict = 'DENY';
    const { taskId } = await startRun(person);
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'denied', costMinor: 0 });
    expect(await spendOf(database, person)).toEqual({ spent: 0, reserved: 0 });
  });

  verifies(
    'gw.run.budget',
    'that was approved has its money set aside again, in the month in which it is made',
    async () => {
      const { taskId, approve } = await parkedCall();
      expect(await spendOf(database, person)).toEqual({ spent: 0, reserved: 0 });
      const earlier = `UPDATE run_steps SET started_at = started_at - interval '40 days' WHERE workspace_id = $1`;
      await rowsOf(database, earlier, [person.workspace.id]);
      await approve();
      const run = await runReaching(person, taskId);
      expect(run).toMatchObject({ status: 'completed', tokensIn: 10, iterationsUsed: 1 });
      expect(reserved).toBeGreaterThan(0);
      const months = await rowsOf(
        database,
        `SELECT month, reserved_micros::int AS reserved, spent_micros::int AS spent FROM spend_months WHERE workspace_id = $1`,
        [person.workspace.id],
      );
      const spent = 10 * 3 + 5 * 15; // micros per token at the default prices
      expect(months).toEqual([{ month: new Date().toISOString().slice(0, 7), reserved: 0, spent }]);
    },
  );

  verifies('gw.run.budget', 'that was approved when the month is used up is not made', async () => {
    const { taskId, approve } = await parkedCall();
    await person.client.putWorkspaceSettings({
      params: { id: person.workspace.id },
      body: { budgetConfig: { monthlyLlmBudget: 0, currency: 'USD' } },
    });
    let isMade = false;
    kernel.beforeModelAnswer = () => Promise.resolve(void (isMade = true));
    await approve();
    const run = await runReaching(person, taskId);
    const error = { code: 'MONTHLY_BUDGET_EXHAUSTED' };
    expect(run).toMatchObject({ status: 'budget_exhausted', error, steps: [{ verdict: 'ESCALATE', error }] });
    expect(run.steps[0]?.endedAt).not.toBeNull();
    expect(isMade).toBe(false);
  });
});

/** A run that waits for the approval of its first call of the model. */
async function parkedCall(): Promise<{ taskId: string; approve(): Promise<unknown> }> {
  kernel.modelVerdict = 'ESCALATE';
  const { taskId } = await startRun(person);
  await runReaching(person, taskId, ['awaiting_approval']);
  const { body: pending } = await person.client.listWorkspaceApprovals({ query: { status: 'pending' } });
  const params = { id: pending.data[0]?.id ?? '' };
  const approve = () => person.client.resolveWorkspaceApproval({ params, body: { status: 'approved' } });
  return { taskId, approve };
}
