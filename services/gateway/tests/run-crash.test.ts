import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { spawnService, type ServiceProcess } from '@countersign/testkit/service-process';
import { until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { gatewayConfigFrom, type StartedGateway } from '../src/index.ts';
import {
  rowsOf,
  runReaching,
  serviceDir,
  signInAs,
  startRun,
  startTestGateway,
  testDatabase,
  testEnv,
  testExchange,
} from './_gateway.ts';
import { KernelStub } from './_kernel-stub.ts';

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const amqpUrl = process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';

let database: TestDatabase;
let gateway: StartedGateway;
let env: Record<string, string>;
const broker = testExchange(amqpUrl);
const kernel = new KernelStub();
const workers: ServiceProcess[] = [];

beforeAll(async () => {
  // The worker is the real program in its own process, so it must be built.
  await promisify(execFile)(process.execPath, ['node_modules/typescript-7/bin/tsc', '-b', 'services/gateway'], {
    cwd: repository,
  });
  database = await testDatabase();
  await kernel.start();
  env = testEnv(database, {
    AMQP_URL: amqpUrl,
    GOV_AMQP_EXCHANGE: broker.exchange,
    GOV_GOVERNANCE_URL: kernel.url,
    GOV_FAIL_CLOSED: '1',
    GOV_RUN_LEASE: '600ms',
  });
  gateway = await startTestGateway(gatewayConfigFrom({ ...env, GOV_RUN_WORKERS: '0' }));
});

beforeEach(() => {
  kernel.executed.length = 0;
  kernel.modelCalls.length = 0;
  kernel.beforeModelAnswer = async () => undefined;
  kernel.beforeExecutionAnswer = async () => undefined;
});

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.kill()));
});

afterAll(async () => {
  await gateway?.stop();
  await kernel.kill();
  await broker.remove();
  await database?.drop();
});

function startWorker(): void {
  workers.push(spawnService(`${serviceDir}dist/main.js`, env));
}

/** Kills the current worker with kill -9 and starts another one. */
async function replaceWorker(): Promise<void> {
  await workers.at(-1)?.kill();
  startWorker();
}

describe('kill -9 of the worker', () => {
  verifies(
    'gw.run.crash',
    'while the model answers and while each tool runs loses no step and repeats no dispatched action',
    async () => {
      const person = await signInAs(gateway.url, 'ada@example.org');
      const killAt = new Set(['model 1', 'tool 1', 'model 2', 'tool 3']);
      const crash = async (moment: string) => {
        if (killAt.delete(moment)) await replaceWorker();
      };
      kernel.beforeModelAnswer = () => crash(`model ${kernel.modelCalls.length}`);
      kernel.beforeExecutionAnswer = () => crash(`tool ${kernel.executed.length}`);
      kernel.say = (messages) => {
        const done = messages.filter((message) => message.role === 'tool').length;
        return done < 3
          ? { calls: [{ name: 'files__write', args: { nth: done + 1 } }] }
          : { text: `${done} files written` };
      };
      startWorker();
      const { taskId, runId } = await startRun(person);
      const run = await runReaching(person, taskId);
      expect(killAt).toEqual(new Set());
      expect(run).toMatchObject({ status: 'completed', result: '3 files written', iterationsUsed: 4, tokensIn: 40 });
      expect(run.steps.map(({ kind, tool, verdict }) => [kind, tool, verdict])).toEqual([
        ...Array.from({ length: 3 }, () => [
          ['model_call', null, 'ALLOW'],
          ['tool_call', 'files.write', 'ALLOW'],
        ]).flat(),
        ['model_call', null, 'ALLOW'],
      ]);
      expect(kernel.executed.map(({ args }) => args)).toEqual([{ nth: 1 }, { nth: 2 }, { nth: 3 }]);
      expect(kernel.executed.map(({ key }) => key)).toEqual(
        run.steps.filter(({ kind }) => kind === 'tool_call').map(({ id }) => id),
      );
      expect(new Set(kernel.modelCalls).size).toBe(kernel.modelCalls.length);
      const [claims] = await rowsOf<{ fence: number }>(
        database,
        'SELECT lease_fence AS fence FROM runs WHERE id = $1',
        [runId],
      );
      // Each worker claims the run once. On a slow machine a lease can expire, and the run is claimed again.
      expect(claims?.fence).toBeGreaterThanOrEqual(5);
    },
  );

  it('leaves the call of a run that is then cancelled open until the lease ends and another worker closes it', async () => {
    const person = await signInAs(gateway.url, 'grace@example.org');
    const killed = new Promise<void>((resolve) => {
      kernel.beforeModelAnswer = async () => {
        await workers.at(-1)?.kill();
        resolve();
      };
    });
    startWorker();
    const { taskId } = await startRun(person);
    await killed;
    await person.client.putTaskStatus({ params: { id: taskId }, body: { status: 'cancelled' } });
    startWorker();
    await until(async () => (await runReaching(person, taskId)).steps[0]?.endedAt !== null);
    const run = await runReaching(person, taskId);
    expect(run).toMatchObject({ status: 'cancelled', steps: [{ error: { code: 'RUN_ENDED' } }] });
  });
});
