import { afterAll, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { verifies } from '@countersign/testkit/verifies';
import type { StartedGateway } from '../src/index.ts';
import {
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
});
