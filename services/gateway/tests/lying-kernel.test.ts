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
import { KernelStub, type StubFault } from './_kernel-stub.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let person: Person;
const kernel = new KernelStub();

beforeAll(async () => {
  database = await testDatabase();
  await kernel.start();
  const config = testConfig(database, {
    GOV_GOVERNANCE_URL: kernel.url,
    GOV_FAIL_CLOSED: '1',
    GOV_GOVERNANCE_TIMEOUT: '6s',
  });
  gateway = await startTestGateway(config);
  person = await signInAs(gateway.url, 'ada@example.org');
  // The keys of the kernel are pinned at the first use.
  expect(await runReaching(person, (await startRun(person)).taskId)).toMatchObject({ status: 'completed' });
});

/** Calls one tool, then ends. */
const callOnce: typeof kernel.say = (messages) =>
  messages.some((message) => message.role === 'tool')
    ? { text: 'All done.' }
    : { calls: [{ name: 'files__write', args: { path: 'a' } }] };

beforeEach(() => {
  kernel.fault = 'none';
  kernel.verdictOf = () => 'ALLOW';
  kernel.judgesAnswers = true;
  kernel.executed.length = 0;
  kernel.say = callOnce;
});

afterAll(async () => {
  await gateway?.stop();
  await kernel.kill();
  await database?.drop();
});

describe('a kernel that cannot be trusted', () => {
  const lies: StubFault[] = [
    'unsigned',
    'foreign_key',
    'other_tenant',
    'other_session',
    'other_principal',
    'other_action',
    'other_decision',
    'other_keys',
    'outcome',
    'shadow',
    'old',
    'no_tools',
    'nonsense',
    'error_500',
    'hang',
  ];

  verifies('gw.failclosed', 'makes the run fail as unreachable/degraded, and nothing is executed', async () => {
    for (const fault of lies) {
      kernel.fault = fault;
      const { taskId } = await startRun(person);
      const run = await runReaching(person, taskId);
      expect([fault, run.status, run.outcome]).toEqual([fault, 'failed', 'unreachable/degraded']);
      expect([fault, run.error?.code]).not.toEqual([fault, undefined]);
    }
    expect(kernel.executed).toEqual([]);
    await kernel.kill();
    const { taskId } = await startRun(person);
    expect(await runReaching(person, taskId)).toMatchObject({
      status: 'failed',
      outcome: 'unreachable/degraded',
      error: { code: 'GOVERNANCE_UNAVAILABLE' },
    });
    await kernel.start();
  });

  verifies('gw.run.crash', 'makes the run report that an unanswered call may have been executed', async () => {
    kernel.judgesAnswers = false;
    kernel.beforeExecutionAnswer = () => new Promise(() => undefined);
    const run = await runReaching(person, (await startRun(person)).taskId);
    kernel.beforeExecutionAnswer = async () => undefined;
    expect(kernel.executed).toHaveLength(1);
    const error = { code: 'GOVERNANCE_TIMEOUT', message: expect.stringMatching(/The call may have been made\.$/) };
    expect([run.status, run.error, run.steps.at(-1)?.error]).toEqual(['failed', error, error]);
  });

  verifies('gw.failclosed', 'cannot present a denial as an ALLOW, since the sealed verdict counts', async () => {
    kernel.judgesAnswers = false;
    kernel.verdictOf = () => 'DENY';
    kernel.fault = 'denial_as_allow';
    const { taskId } = await startRun(person);
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'denied', outcome: 'deny' });
  });

  verifies(
    'gw.failclosed',
    'cannot present the ALLOW of another tool or of an earlier call as the ALLOW of this call',
    async () => {
      kernel.judgesAnswers = false;
      for (const fault of ['other_tool', 'replayed'] as const) {
        kernel.fault = 'none';
        kernel.say = callOnce;
        await runReaching(person, (await startRun(person)).taskId);
        kernel.say = (messages) => {
          const isLater = messages.filter((message) => message.role === 'tool').length > 0;
          if (fault === 'replayed') kernel.fault = isLater ? 'replayed' : 'none';
          return { calls: [{ name: 'files__write', args: { n: messages.length } }] };
        };
        if (fault === 'other_tool') kernel.fault = fault;
        const run = await runReaching(person, (await startRun(person)).taskId);
        expect([fault, run.status, run.outcome, run.error?.code]).toEqual([
          fault,
          'failed',
          'unreachable/degraded',
          'RECEIPT_UNVERIFIED',
        ]);
      }
    },
  );
});
