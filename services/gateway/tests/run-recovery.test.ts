import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import type { StartedGateway } from '../src/index.ts';
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
import { KernelStub } from './_kernel-stub.ts';

let database: TestDatabase;
let door: StartedGateway;
let worker: StartedGateway | null = null;
let person: Person;
const kernel = new KernelStub();
const config = (more: Record<string, string> = {}) => testConfig(database, { GOV_GOVERNANCE_URL: kernel.url, ...more });

beforeAll(async () => {
  database = await testDatabase();
  await kernel.start();
  door = await startTestGateway(config({ GOV_RUN_WORKERS: '0' }));
  person = await signInAs(door.url, 'ada@example.org');
});
beforeEach(() => {
  kernel.say = () => ({ text: 'done' });
  kernel.beforeModelAnswer = async () => undefined;
});
afterEach(async () => {
  await worker?.stop();
  worker = null;
});
afterAll(async () => {
  await door?.stop();
  await kernel.kill();
  await database?.drop();
});

async function startWorker(): Promise<StartedGateway> {
  worker = await startTestGateway(config());
  return worker;
}

/** Starts a run whose job was delivered `times` times without a result. */
async function startRunDelivered(times: number): Promise<{ taskId: string; runId: string }> {
  const run = await startRun(person);
  const moved = await rowsOf(
    database,
    `WITH sent AS (DELETE FROM outbox WHERE envelope LIKE '%' || $1 || '%' AND needs_consumer RETURNING id, envelope)
     INSERT INTO deliveries (queue, message_id, envelope, attempts)
     SELECT 'countersign.gateway.runs', id, envelope, $2 FROM sent RETURNING message_id`,
    [run.runId, times],
  );
  expect(moved).toHaveLength(1);
  return run;
}

describe('the job of a run', () => {
  it('survives fifty failed deliveries', async () => {
    const { taskId, runId } = await startRunDelivered(50);
    await startWorker();
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed', result: 'done' });
    expect(await rowsOf(database, 'SELECT * FROM dead_letters WHERE envelope LIKE $1', [`%${runId}%`])).toEqual([]);
  });

  it('that was lost with its queue is created again as soon as a worker is idle', async () => {
    const { taskId, runId } = await startRun(person);
    const lost = await rowsOf(
      database,
      `DELETE FROM outbox WHERE envelope LIKE '%' || $1 || '%' AND needs_consumer RETURNING id`,
      [runId],
    );
    expect(lost).toHaveLength(1);
    await rowsOf(database, "UPDATE runs SET created_at = now() - interval '31 seconds' WHERE id = $1", [runId]);
    await startWorker();
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed', result: 'done' });
  });

  it('that became a dead letter is created again: no run waits for ever', async () => {
    const before = (await rowsOf(database, 'SELECT * FROM dead_letters')).length;
    const { taskId, runId } = await startRunDelivered(1_000);
    await rowsOf(database, "UPDATE runs SET created_at = now() - interval '11 minutes' WHERE id = $1", [runId]);
    const { context } = await startWorker();
    await until(async () => (await rowsOf(database, 'SELECT * FROM dead_letters')).length === before + 1);
    await sweep(context);
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed', result: 'done' });
  });
});

describe('a run whose worker died', () => {
  const orphan = async (attempts: number) => {
    const { taskId, runId } = await startRun(person);
    await rowsOf(
      database,
      `WITH gone AS (DELETE FROM outbox WHERE envelope LIKE '%' || $1 || '%' AND needs_consumer)
       UPDATE runs SET status = 'running', lease_owner = 'dead', lease_until = now(), lease_fence = 1, attempts = $2 WHERE id = $1`,
      [runId, attempts],
    );
    return taskId;
  };

  it('is continued by another worker after the lease', async () => {
    const taskId = await orphan(1);
    await sweep((await startWorker()).context);
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed', result: 'done' });
  });

  it('ends as failed after five of its workers died', async () => {
    const taskId = await orphan(5);
    await sweep((await startWorker()).context);
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'failed', error: { code: 'RUN_ABANDONED' } });
  });
});

describe('a run that is cancelled while the model answers', () => {
  const cancel = (taskId: string) =>
    person.client.putTaskStatus({ params: { id: taskId }, body: { status: 'cancelled' } });

  it('counts the cost of the call when the answer comes before the end of the lease', async () => {
    const { taskId } = await startRunDelivered(0);
    kernel.beforeModelAnswer = async () => {
      await cancel(taskId);
      await sweep(door.context);
    };
    await startWorker();
    expect((await runReaching(person, taskId)).status).toBe('cancelled');
    await until(async () => (await runReaching(person, taskId)).costMinor > 0);
  });

  verifies('gw.run.crash', 'is settled once when the answer comes too late', async () => {
    const { taskId, runId } = await startRunDelivered(0);
    kernel.beforeModelAnswer = async () => {
      await cancel(taskId);
      await rowsOf(database, 'UPDATE runs SET lease_until = now() WHERE id = $1', [runId]);
      await sweep(door.context);
    };
    const late = await startWorker();
    expect((await runReaching(person, taskId)).status).toBe('cancelled');
    await until(() => Promise.resolve(late.context.bus.status().handling === 0));
    const run = await runReaching(person, taskId);
    expect(run).toMatchObject({
      iterationsUsed: 1,
      tokensIn: 0,
      costMinor: 0,
      steps: [{ error: { code: 'RUN_ENDED' } }],
    });
  });

  it('reports that an unanswered call may have been executed', async () => {
    const { taskId } = await startRunDelivered(0);
    const pending = new Promise<void>((resolve) => {
      kernel.beforeModelAnswer = () => new Promise(() => resolve());
    });
    const first = await startWorker();
    await pending;
    await first.stop();
    await cancel(taskId);
    await sweep((await startWorker()).context);
    await until(async () => (await runReaching(person, taskId)).steps[0]?.endedAt !== null);
    const run = await runReaching(person, taskId);
    expect(run).toMatchObject({ status: 'cancelled', iterationsUsed: 1, steps: [{ error: { code: 'RUN_ENDED' } }] });
  });
});
