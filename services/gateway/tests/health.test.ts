import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Liveness, Readiness } from '@countersign/contracts';
import type { TestDatabase } from '@countersign/database/testing';
import { createLifecycle, createLogger } from '@countersign/service-kit';
import { createTcpProxy, type TcpProxy } from '@countersign/testkit/tcp-proxy';
import { reaching, until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import type { StartedGateway } from '../src/index.ts';
import {
  clientOf,
  rowsOf,
  runReaching,
  signInAs,
  startRun,
  startTestGateway,
  testConfig,
  testDatabase,
  testExchange,
  type Person,
} from './_gateway.ts';
import { KernelStub } from './_kernel-stub.ts';

const amqpUrl = process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';
const broker = testExchange(amqpUrl);
const kernel = new KernelStub();
let database: TestDatabase;
let databaseWire: TcpProxy;
let queueWire: TcpProxy;
let gateway: StartedGateway;
let person: Person;

function wireTo(url: string, portDefault: number): Promise<TcpProxy> {
  const { hostname, port } = new URL(url);
  return createTcpProxy({ host: hostname, port: port === '' ? portDefault : Number(port) });
}

/** Returns the URL through a proxy. */
function through({ port }: TcpProxy, url: string): string {
  const rewritten = new URL(url);
  rewritten.host = `127.0.0.1:${port}`;
  return rewritten.href;
}

beforeAll(async () => {
  database = await testDatabase();
  databaseWire = await wireTo(database.url, 5432);
  queueWire = await wireTo(amqpUrl, 5672);
  await kernel.start();
  const config = testConfig(database, {
    DATABASE_URL: through(databaseWire, database.url),
    AMQP_URL: through(queueWire, amqpUrl),
    GOV_AMQP_EXCHANGE: broker.exchange,
    GOV_GOVERNANCE_URL: kernel.url,
  });
  gateway = await startTestGateway(config);
  await gateway.subscribed;
  person = await signInAs(gateway.url, 'ada@example.org');
});

afterAll(async () => {
  for (const wire of [databaseWire, queueWire]) wire?.restore();
  await gateway?.stop();
  await Promise.all([databaseWire?.close(), queueWire?.close(), kernel.kill()]);
  await broker.remove();
  await database?.drop();
});

async function health() {
  const { body, status } = await clientOf(gateway.url).getHealth();
  return { status, overall: body.status, ...body.checks };
}

async function healthBecoming(expected: Awaited<ReturnType<typeof health>>): Promise<void> {
  await reaching(health, (seen) => isDeepStrictEqual(seen, expected));
}

const whole = { status: 200, overall: 'ok', database: 'ok', queue: 'ok', governance: 'ok', workers: 'ok' } as const;

describe('health', () => {
  verifies(
    'gw.health',
    'reports database, queue and governance separately, and changes when each stops and returns',
    async () => {
      await healthBecoming(whole);
      await kernel.kill();
      await healthBecoming({ ...whole, overall: 'degraded', governance: 'unreachable' });
      await kernel.start();
      await healthBecoming(whole);
      queueWire.cut();
      await healthBecoming({ ...whole, overall: 'degraded', queue: 'unreachable' });
      queueWire.restore();
      await healthBecoming(whole);
      databaseWire.cut();
      await healthBecoming({
        ...whole,
        status: 503,
        overall: 'unavailable',
        database: 'unreachable',
        workers: 'unknown',
      });
      databaseWire.restore();
      await healthBecoming(whole);
    },
  );

  verifies('gw.health', 'answers while the kernel hangs, and with 503 when governance is mandatory', async () => {
    const strict = await startTestGateway(
      testConfig(database, { GOV_GOVERNANCE_URL: kernel.url, GOV_FAIL_CLOSED: '1' }),
    );
    kernel.fault = 'hang';
    try {
      const { body, status } = await clientOf(strict.url).getHealth();
      expect([status, body.status, body.checks.governance]).toEqual([503, 'unavailable', 'unreachable']);
      expect((await fetch(new URL('/health/ready', strict.url))).status).toBe(503);
      const live = await fetch(new URL('/health/live', strict.url));
      expect([live.status, Liveness.parse(await live.json())]).toEqual([200, { status: 'live' }]);
    } finally {
      kernel.fault = 'none';
      await strict.stop();
    }
  });

  it('reports absent workers and the next step, and stays ready: work is accepted and waits', async () => {
    const own = await testDatabase();
    const config = { GOV_GOVERNANCE_URL: kernel.url };
    const idle = await startTestGateway(testConfig(own, { ...config, GOV_RUN_WORKERS: '0' }));
    const seen = async () => (await clientOf(idle.url).getHealth()).body;
    const ready = async () => {
      const response = await fetch(new URL('/health/ready', idle.url));
      return [response.status, Readiness.parse(await response.json()).checks];
    };
    const absent = (since: string) => ({
      status: 'degraded',
      checks: { workers: 'absent' },
      problems: [{ check: 'workers', message: expect.stringMatching(`^No gateway worker accepts runs: ${since}`) }],
    });
    try {
      expect(await seen()).toMatchObject(absent('no worker has ever reported'));
      expect(await ready()).toMatchObject([200, { orchestrator: 'down' }]);
      const working = await startTestGateway(testConfig(own, config));
      await until(async () => (await seen()).status === 'ok');
      expect(await ready()).toMatchObject([200, { orchestrator: 'up' }]);
      await working.stop();
      const setBack = (seconds: number) =>
        rowsOf(own, `UPDATE worker_heartbeats SET seen_at = now() - ${seconds} * interval '1 second'`);
      await setBack(50);
      expect(await seen()).toMatchObject({ status: 'ok', problems: [] });
      await setBack(61);
      expect(await seen()).toMatchObject(absent('the last worker reported 6. seconds ago'));
    } finally {
      await idle.stop();
      await own.drop();
    }
  });

  it('is not ready after a stop signal, and answers for as long as load balancers need', async () => {
    const lifecycle = createLifecycle(createLogger({ service: 'gateway', silent: true }));
    const config = testConfig(database, {
      GOV_GOVERNANCE_URL: kernel.url,
      GOV_STOP_NOTICE: '7s',
      GOV_RUN_WORKERS: '0',
    });
    const leaving = await startTestGateway(config, { lifecycle });
    try {
      expect(lifecycle.noticeMs).toBe(7_000);
      await until(async () => (await fetch(new URL('/health/ready', leaving.url))).status === 200);
      lifecycle.beginStop();
      expect((await fetch(new URL('/health/ready', leaving.url))).status).toBe(503);
      expect((await clientOf(leaving.url).getHealth()).status).toBe(200);
    } finally {
      await leaving.stop();
    }
  });

  it('reports not_configured without a kernel, and runs fail closed', async () => {
    const own = await testDatabase(); // otherwise the worker of the other gateway could claim the run
    const lonely = await startTestGateway(testConfig(own));
    try {
      expect((await clientOf(lonely.url).getHealth()).body.checks.governance).toBe('not_configured');
      const bob = await signInAs(lonely.url, 'bob@example.org');
      const run = await runReaching(bob, (await startRun(bob)).taskId);
      expect(run).toMatchObject({
        status: 'failed',
        outcome: 'unreachable/degraded',
        error: { code: 'GOVERNANCE_NOT_CONFIGURED' },
      });
    } finally {
      await lonely.stop();
      await own.drop();
    }
  });
});

describe('the gateway', () => {
  it('accepts tasks and runs without the queue, and runs each once after its return', async () => {
    kernel.executed.length = 0;
    kernel.say = (messages) =>
      messages.some(({ role }) => role === 'tool') ? { text: 'done' } : { calls: [{ name: 'files__write', args: {} }] };
    queueWire.cut();
    await healthBecoming({ ...whole, overall: 'degraded', queue: 'unreachable' });
    const started = await Promise.all(Array.from({ length: 5 }, () => startRun(person)));
    const [waiting] = await rowsOf<{ count: number }>(
      database,
      "SELECT count(*)::int AS count FROM outbox WHERE sent_at IS NULL AND type = 'run.enqueued.v1'",
    );
    expect(waiting?.count).toBe(5);
    queueWire.restore();
    for (const { taskId } of started) expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed' });
    expect(kernel.executed).toHaveLength(5);
  });

  it('answers 503 without the database, and works again without a restart', async () => {
    databaseWire.cut();
    await expect(person.client.createTask({ body: { title: 'Lost', description: '' } })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
    databaseWire.restore();
    await healthBecoming(whole);
    expect(await runReaching(person, (await startRun(person)).taskId)).toMatchObject({ status: 'completed' });
  });
});
