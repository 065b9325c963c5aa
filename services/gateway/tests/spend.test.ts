import { afterAll, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { verifies } from '@countersign/testkit/verifies';
import type { StartedGateway } from '../src/index.ts';
import {
  runReaching,
  signInAs,
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
const kernel = new KernelStub();

beforeAll(async () => {
  database = await testDatabase();
  await kernel.start();
  const more = { GOV_GOVERNANCE_URL: kernel.url, GOV_GOVERNANCE_TIMEOUT: '6s' };
  gateway = await startTestGateway(testConfig(database, more));
});
beforeEach(async (): Promise<void> => {
  person = await signInAs(gateway.url, `${crypto.randomUUID()}@example.org`);
  kernel.modelVerdict = 'ALLOW';
  kernel.callMicros = 2_500_000n;
  kernel.say = () => ({ text: 'done' });
  kernel.beforeModelAnswer = async () => undefined;
});
afterAll(async () => {
  await gateway?.stop();
  await kernel.kill();
  await database?.drop();
});

async function setMonthlyBudget(monthlyLlmBudget: number): Promise<void> {
  const params = { id: person.workspace.id };
  await person.client.putWorkspaceSettings({ params, body: { budgetConfig: { monthlyLlmBudget, currency: 'USD' } } });
}

describe('a call of the model', () => {
  verifies('gw.run.budget', 'costs what the kernel counted, rounded up only for display', async () => {
    kernel.say = (messages) =>
      messages.length > 2 ? { text: 'done' } : { calls: [{ name: 'files__read', args: {} }] };
    const { taskId } = await startRun(person);
    const run = await runReaching(person, taskId);
    expect(run).toMatchObject({ status: 'completed', iterationsUsed: 2, tokensIn: 20, costMinor: 5 });
  });

  verifies('gw.run.budget', 'that the kernel refuses costs nothing', async () => {
    kernel.modelVerdict = 'DENY';
    const { taskId } = await startRun(person);
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'denied', costMinor: 0 });
  });

  verifies(
    'gw.run.budget',
    'that exceeds the monthly budget ends the run, with the decision and receipt of the kernel',
    async () => {
      await setMonthlyBudget(0.03);
      kernel.say = () => ({ calls: [{ name: 'files__read', args: {} }] });
      const { taskId, runId } = await startRun(person);
      const run = await runReaching(person, taskId);
      expect(run).toMatchObject({ status: 'budget_exhausted', error: { code: 'BUDGET_EXCEEDED' }, costMinor: 3 });
      const refused = run.steps.at(-1);
      expect(refused).toMatchObject({ kind: 'model_call', verdict: 'DENY', reasonCode: 'BUDGET_EXCEEDED' });
      expect(refused?.receiptId).toMatch(/^rcp_/);
      const { body: receipts } = await person.client.listGovernanceReceipts({ query: { limit: 1 } });
      expect(receipts.data[0]).toMatchObject({ receiptId: refused?.receiptId, verification: 'verified' });
      const { body: violations } = await person.client.listViolations();
      expect(violations.data[0]).toMatchObject({ source: 'kernel', reasonCode: 'BUDGET_EXCEEDED', runId });
    },
  );

  verifies('gw.run.budget', 'that was approved is not made when the monthly budget is used up', async () => {
    kernel.modelVerdict = 'ESCALATE';
    const { taskId } = await startRun(person);
    await runReaching(person, taskId, ['awaiting_approval']);
    const { body: pending } = await person.client.listWorkspaceApprovals({ query: { status: 'pending' } });
    expect(pending.data[0]).toMatchObject({ tool: null, args: { seen: 'by the policy' }, effectLevel: 'E2' });
    await setMonthlyBudget(0);
    let isMade = false;
    kernel.beforeModelAnswer = () => Promise.resolve(void (isMade = true));
    await person.client.resolveWorkspaceApproval({
      params: { id: pending.data[0]?.id ?? '' },
      body: { status: 'approved' },
    });
    const run = await runReaching(person, taskId);
    expect(run).toMatchObject({
      status: 'budget_exhausted',
      steps: [{ verdict: 'DENY', reasonCode: 'BUDGET_EXCEEDED' }],
    });
    expect(isMade).toBe(false);
  });
});
