import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import type { StartedGateway } from '../src/index.ts';
import { openGatewayDatabase } from '../src/store/database.ts';
import { loadSteps } from '../src/store/steps.ts';
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
import { KernelStub, type StubStatement } from './_kernel-stub.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let person: Person;
const kernel = new KernelStub();

beforeAll(async () => {
  database = await testDatabase();
  await kernel.start();
  gateway = await startTestGateway(testConfig(database, { GOV_GOVERNANCE_URL: kernel.url }));
  person = await signInAs(gateway.url, 'ada@example.org');
});

beforeEach(() => {
  kernel.usage = { prompt_tokens: 10, completion_tokens: 5 };
  kernel.judgesAnswers = true;
  kernel.verdictOf = () => 'ALLOW';
  kernel.executed.length = 0;
});

afterAll(async () => {
  await gateway?.stop();
  await kernel.kill();
  await database?.drop();
});

/** Runs a task whose model first answers `stubSaid`, then ends. */
async function runWith(stubSaid: StubStatement) {
  kernel.say = (messages) => (messages.some(({ role }) => role === 'tool') ? { text: 'done' } : stubSaid);
  const { taskId } = await startRun(person);
  return runReaching(person, taskId);
}

it('a model that writes text that no column can store ends its run like any other', async () => {
  const run = await runWith({ text: 'a\u0000b\ud800c' });
  expect(run).toMatchObject({ status: 'completed', result: 'a\ufffdb\ufffdc' });
});

it.each([
  ['decided in the answer', true],
  ['decided at execution', false],
])(
  'a model that puts NUL into the id and the arguments of a call has the call executed: %s',
  async (_where, judgesAnswers) => {
    kernel.judgesAnswers = judgesAnswers;
    const run = await runWith({ calls: [{ id: 'c\u0000d', name: 'files__write', args: { a: '\u0000' } }] });
    expect(run.status).toBe('completed');
    expect(kernel.executed).toMatchObject([{ tool: 'files.write', args: { a: '\u0000' } }]);
  },
);

it('a model that puts NUL into the name of a tool ends its run, and not the worker', async () => {
  kernel.verdictOf = () => 'DENY';
  const run = await runWith({ calls: [{ name: 'files__wr\u0000ite', args: {} }] });
  expect(run).toMatchObject({ status: 'failed', error: { code: 'GOVERNANCE_MALFORMED' } });
  expect(kernel.executed).toEqual([]);
});

it.each([-1, 0.5, 20_000_001, 3_000_000_000, Number.MAX_SAFE_INTEGER])(
  'a model that reports %d used tokens is not believed, and its run continues',
  async (tokens) => {
    kernel.usage = { prompt_tokens: tokens, completion_tokens: tokens };
    const run = await runWith({ calls: [{ name: 'files__write', args: {} }] });
    expect(run).toMatchObject({ status: 'completed', tokensIn: 0, tokensOut: 0, costMinor: 1 });
  },
);

it('a model that requests more calls than an answer may contain has none of them executed', async () => {
  const run = await runWith({ calls: Array.from({ length: 200 }, () => ({ name: 'files__write', args: {} })) });
  expect(run).toMatchObject({ status: 'failed', error: { code: 'UPSTREAM_FAILED' } });
  expect(kernel.executed).toEqual([]);
});

it('a model that sends a megabyte of arguments has its call executed, and no worker and no list of runs loads them again', async () => {
  const run = await runWith({ calls: [{ name: 'files__write', args: { text: 'x'.repeat(1_000_000) } }] });
  expect(run.status).toBe('completed');
  const { reader, close } = openGatewayDatabase(database.url);
  const steps = await loadSteps(reader, { runId: run.id, after: 0 }).finally(close);
  expect(steps.map(({ args }) => args)).toEqual(['', '', '']);
  // The value is larger than a statement can return, so that the reader fails.
  await rowsOf(database, `UPDATE run_steps SET output = repeat('x', 268435456) WHERE run_id = $1 AND seq = 2`, [
    run.id,
  ]);
  const { body } = await person.client.listRuns({ params: { id: run.taskId } });
  expect(body.data[0]?.steps).toHaveLength(3);
  await rowsOf(database, `UPDATE run_steps SET output = NULL WHERE run_id = $1`, [run.id]);
});
