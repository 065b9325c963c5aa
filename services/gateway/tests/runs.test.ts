import { afterAll, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { verifies } from '@countersign/testkit/verifies';
import type { StartedGateway } from '../src/index.ts';
import { runReaching, signInAs, startRun, startTestGateway, testConfig, testDatabase, type Person } from './_gateway.ts';
import { KernelStub } from './_kernel-stub.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let person: Person;
const kernel = new KernelStub();

beforeAll(async () => {
  database = await testDatabase();
  await kernel.start();
  const amqp = process.env['AMQP_URL'];
  const config = testConfig(database, {
    GOV_GOVERNANCE_URL: kernel.url,
    GOV_ADMIN_API_KEY: 'admin',
    GOV_FAIL_CLOSED: '1',
    ...(amqp === undefined ? {} : { AMQP_URL: amqp }),
  });
  gateway = await startTestGateway(config);
  person = await signInAs(gateway.url, 'ada@example.org');
});

beforeEach(() => {
  kernel.fault = 'none';
  kernel.verdictOf = () => 'ALLOW';
  kernel.judgesAnswers = true;
  kernel.executed.length = 0;
  kernel.say = (messages) =>
    messages.some((message) => message.role === 'tool') ? { text: 'All done.' } : { calls: [{ name: 'files__write', args: { path: 'a' } }] };
});

afterAll(async () => {
  await gateway?.stop();
  await kernel.kill();
  await database?.drop();
});

describe('a run', () => {
  verifies('gw.task.run', 'answers before the work is done and leaves steps with decisions and verified receipts', async () => {
    const { taskId } = await startRun(person);
    const run = await runReaching(person, taskId);
    expect(run).toMatchObject({ status: 'completed', outcome: 'allow', result: 'All done.', iterationsUsed: 2, tokensIn: 20, tokensOut: 10 });
    expect(run.steps.map((step) => [step.kind, step.tool, step.verdict])).toEqual([
      ['model_call', null, 'ALLOW'],
      ['tool_call', 'files.write', 'ALLOW'],
      ['model_call', null, 'ALLOW'],
    ]);
    expect(kernel.executed).toEqual([{ tool: 'files.write', args: { path: 'a' }, key: run.steps[1]?.id, grant: undefined }]);
    for (const step of run.steps) {
      const { body } = await person.client.getGovernanceReceipt({ params: { decisionId: step.decisionId ?? '' } });
      expect(body).toMatchObject({ verification: 'verified', receiptId: step.receiptId, runId: run.id });
    }
  });
});
