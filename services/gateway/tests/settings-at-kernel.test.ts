import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
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
  kernel.judgesAnswers = true;
  kernel.beforeModelAnswer = async () => undefined;
  kernel.settings.beforeTaken = async () => undefined;
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

describe('the settings of a workspace', () => {
  for (const judgesAnswers of [true, false]) {
    const where = judgesAnswers ? 'where the model proposes it' : 'where it is executed';
    verifies(
      'gw.run.budget',
      `make the kernel deny a blocked tool ${where}, with its receipt, and the tool is not offered`,
      async () => {
        kernel.judgesAnswers = judgesAnswers;
        await block('files__write');
        const { taskId, runId } = await startRun(person);
        const run = await runReaching(person, taskId);
        expect(run).toMatchObject({ status: 'denied', error: { code: 'TOOL_BLOCKED' } });
        const denied = run.steps.at(-1);
        expect(denied).toMatchObject({
          kind: 'tool_call',
          tool: 'files.write',
          verdict: 'DENY',
          reasonCode: 'TOOL_BLOCKED',
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
    'apply to every later step once their change was answered, also to a step that is about to begin',
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

  verifies('gw.run.budget', 'apply to the next step when they change during a run', async () => {
    kernel.judgesAnswers = false;
    kernel.beforeModelAnswer = async () => void (await block('files.write'));
    const { taskId } = await startRun(person);
    const run = await runReaching(person, taskId);
    expect(run.steps.map(({ verdict }) => verdict)).toEqual(['ALLOW', 'DENY']);
    expect(kernel.executed).toEqual([]);
  });

  verifies('gw.run.budget', 'reach the kernel once per version, however many runs there are', async () => {
    kernel.say = () => ({ text: 'done' });
    await confirmed(1);
    kernel.settings.put.length = 0;
    for (let runs = 0; runs < 2; runs += 1) await runReaching(person, (await startRun(person)).taskId);
    expect(ownVersions()).toEqual([]);
    await block();
    await confirmed(2);
    await runReaching(person, (await startRun(person)).taskId);
    expect(ownVersions()).toEqual([2, 2]);
  });

  const ownVersions = () =>
    kernel.settings.put.filter(({ path }) => path.includes(person.workspace.id)).map(({ version }) => version);
  const confirmed = (version: number) =>
    until(async () => {
      const query = 'SELECT version FROM confirmed_settings WHERE workspace_id = $1';
      const [row] = await rowsOf<{ version: number }>(database, query, [person.workspace.id]);
      return row?.version === version;
    });
});

describe('settings without a run', () => {
  const isBlocked = () => kernel.settings.isBlocked(person.workspace.id, 'files.write');
  const putOf = () =>
    kernel.settings.put.filter(({ path }) => path.includes(person.workspace.id)).map(({ path }) => path.split('/')[2]);

  verifies(
    'gw.run.budget',
    'reach the kernel as well: the ceiling before the first list of blocked tools',
    async () => {
      await until(() => putOf().length >= 2);
      expect(putOf().slice(0, 2)).toEqual(['budgets', 'policy']);
      await block('files__write');
      await until(isBlocked);
      expect(putOf().slice(-2)[0]).toBe('policy');
    },
  );

  verifies('gw.failclosed', 'are delivered when the kernel is available again', async () => {
    await until(() => putOf().length >= 2);
    let refusals = 0;
    kernel.settings.beforeTaken = async () => {
      if ((refusals += 1) === 1) throw new Error('away');
    };
    await block('files__write');
    await until(() => refusals > 0);
    await rowsOf(database, 'UPDATE workspaces SET settings_due_at = now() WHERE id = $1', [person.workspace.id]);
    await until(isBlocked);
  });
});

describe('settings that the kernel has not confirmed', () => {
  verifies('gw.failclosed', 'during an outage end the run as degraded before any step', async () => {
    kernel.settings.beforeTaken = () => Promise.reject(new Error('away'));
    const { taskId } = await startRun(person);
    const run = await runReaching(person, taskId);
    expect(run).toMatchObject({ status: 'failed', outcome: 'unreachable/degraded', steps: [] });
    // The deadline can pass during an attempt or between two attempts.
    expect(['GOVERNANCE_UNAVAILABLE', 'GOVERNANCE_TIMEOUT']).toContain(run.error?.code);
    expect(kernel.offered).toEqual([]);
  });

  verifies('gw.failclosed', 'because the kernel has later ones from another source end the run likewise', async () => {
    const blocks = `/internal/policy/blocks/${person.workspace.id}`;
    kernel.settings.standAt(blocks, 99);
    const { taskId } = await startRun(person);
    const run = await runReaching(person, taskId);
    expect(run).toMatchObject({ status: 'failed', outcome: 'unreachable/degraded', steps: [] });
    expect(run.error?.code).toBe('SETTINGS_REFUSED');
    expect(run.error?.message).toMatch(/holds version 99 .* has version 1\. .* check the settings and save them again/);

    await block('files__write');
    const { taskId: next } = await startRun(person);
    expect(await runReaching(person, next)).toMatchObject({ status: 'denied', error: { code: 'TOOL_BLOCKED' } });
    // Settings of other workspaces can still arrive.
    expect(kernel.settings.put.findLast(({ path }) => path === blocks)?.version).toBe(100);
  });

  it('can be saved whatever version the kernel claims to have', async () => {
    kernel.settings.standAt(`/internal/policy/blocks/${person.workspace.id}`, 2_147_483_647);
    const { taskId } = await startRun(person);
    expect((await runReaching(person, taskId)).error?.code).toBe('SETTINGS_REFUSED');
    for (let saves = 0; saves < 2; saves += 1) await block('files__write');
    const stored = 'SELECT version FROM workspace_settings WHERE workspace_id = $1';
    expect(await rowsOf(database, stored, [person.workspace.id])).toEqual([{ version: 3 }]);
  });
});
