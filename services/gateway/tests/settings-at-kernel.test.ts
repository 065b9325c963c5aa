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
  const more = { GOV_GOVERNANCE_URL: kernel.url, GOV_GOVERNANCE_TIMEOUT: '1500ms' };
  gateway = await startTestGateway(testConfig(database, more));
});
beforeEach(async (): Promise<void> => {
  person = await signInAs(gateway.url, `${crypto.randomUUID()}@example.org`);
  kernel.judgesAnswers = true;
  kernel.beforeModelAnswer = async () => undefined;
  kernel.settings.beforeTaken = async () => undefined;
  kernel.settings.put.length = 0;
  kernel.offered.length = 0;
  kernel.executed.length = 0;
  kernel.say = () => ({ calls: [{ name: 'files__write', args: {} }] });
});
afterAll(async () => {
  await gateway?.stop();
  await kernel.kill();
  await database?.drop();
});

const block = (...blockedTools: string[]) =>
  person.client.putWorkspaceSettings({
    params: { id: person.workspace.id },
    body: { policyConfig: { maxIterationBudget: 5, blockedTools, deniedCall: 'end' } },
  });

describe('what a workspace sets', () => {
  for (const judgesAnswers of [true, false]) {
    const where = judgesAnswers ? 'where the model proposes it' : 'where it is executed';
    verifies(
      'gw.run.budget',
      `a blocked tool is denied by the kernel ${where}, with its receipt, and is not offered`,
      async () => {
        kernel.judgesAnswers = judgesAnswers;
        await block('files__write');
        const { taskId, runId } = await startRun(person);
        const run = await runReaching(person, taskId);
        expect(run).toMatchObject({ status: 'denied', error: { code: 'POLICY_DENIED' } });
        const denied = run.steps.at(-1);
        expect(denied).toMatchObject({
          kind: 'tool_call',
          tool: 'files.write',
          verdict: 'DENY',
          reasonCode: 'POLICY_DENIED',
        });
        expect(denied?.receiptId).toMatch(/^rcp_/);
        expect(kernel.executed).toEqual([]);
        expect(kernel.offered).toEqual([['files__read']]);
        const { body } = await person.client.listViolations();
        expect(body.data[0]).toMatchObject({ source: 'kernel', runId, receiptId: denied?.receiptId });
      },
    );
  }

  verifies(
    'gw.run.budget',
    'a change that was answered holds for every later step, also one that is about to begin',
    async () => {
      kernel.judgesAnswers = false;
      let changes = 0;
      kernel.settings.beforeTaken = async () => {
        if ((changes += 1) === 1) await block('files.write');
      };
      const { taskId } = await startRun(person);
      expect((await runReaching(person, taskId)).status).toBe('denied');
      expect(kernel.offered).toEqual([['files__read']]);
      expect(kernel.executed).toEqual([]);
    },
  );

  verifies('gw.run.budget', 'a change in the middle of a run holds for the step after it', async () => {
    kernel.judgesAnswers = false;
    kernel.beforeModelAnswer = async () => void (await block('files.write'));
    const { taskId } = await startRun(person);
    const run = await runReaching(person, taskId);
    expect(run.steps.map(({ verdict }) => verdict)).toEqual(['ALLOW', 'DENY']);
    expect(kernel.executed).toEqual([]);
  });

  verifies('gw.run.budget', 'reaches the kernel once for each version', async () => {
    kernel.say = () => ({ text: 'done' });
    for (let runs = 0; runs < 2; runs += 1) await runReaching(person, (await startRun(person)).taskId);
    expect(kernel.settings.put.map(({ version }) => version)).toEqual([1, 1]);
    await block();
    await runReaching(person, (await startRun(person)).taskId);
    expect(kernel.settings.put.map(({ version }) => version)).toEqual([1, 1, 2, 2]);
  });
});

describe('settings that the kernel does not hold to', () => {
  verifies('gw.failclosed', 'because it is away: the run ends degraded, and no step is begun', async () => {
    kernel.settings.beforeTaken = () => Promise.reject(new Error('away'));
    const { taskId } = await startRun(person);
    const run = await runReaching(person, taskId);
    expect(run).toMatchObject({ status: 'failed', outcome: 'unreachable/degraded', steps: [] });
    // The end of its time may fall between two tries or into one.
    expect(['GOVERNANCE_UNAVAILABLE', 'GOVERNANCE_TIMEOUT']).toContain(run.error?.code);
    expect(kernel.offered).toEqual([]);
  });

  verifies('gw.failclosed', 'because it has later ones of somebody else: the same', async () => {
    kernel.settings.standAt(`/internal/policy/blocks/${person.workspace.id}`, 99);
    const { taskId } = await startRun(person);
    const run = await runReaching(person, taskId);
    expect(run).toMatchObject({ status: 'failed', outcome: 'unreachable/degraded', steps: [] });
    expect(run.error?.code).toBe('SETTINGS_REFUSED');
  });
});
