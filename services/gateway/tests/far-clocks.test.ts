import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { reaching, until } from '@countersign/testkit/until';
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

/** A gateway with a machine clock that a test can set wrong. */
let database: TestDatabase;
let gateway: StartedGateway;
let person: Person;
let hooks: Server;
const got: string[] = [];
let skewMs = 0;
const kernel = new KernelStub();
const dayAheadMs = 25 * 3_600_000;

beforeAll(async () => {
  database = await testDatabase();
  await kernel.start();
  hooks = createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8').on('data', (text: string) => (body += text));
    req.on('end', () => {
      got.push(body);
      res.writeHead(204).end();
    });
  });
  await new Promise<void>((listening) => hooks.listen(0, '127.0.0.1', listening));
  const config = testConfig(database, {
    ...{ GOV_GOVERNANCE_URL: kernel.url, GOV_FAIL_CLOSED: '1' },
    ...{ GOV_RUN_LEASE: '3s', GOV_GOVERNANCE_TIMEOUT: '5s', GOV_WEBHOOKS_REACH_PRIVATE: '1' },
  });
  gateway = await startTestGateway(config, { machineClock: () => new Date(Date.now() + skewMs) });
});
beforeEach(async () => {
  kernel.verdictOf = () => 'ESCALATE';
  kernel.say = (messages) =>
    messages.some((message) => message.role === 'tool')
      ? { text: 'All done.' }
      : { calls: [{ name: 'files__write', args: { path: 'a' } }] };
  person = await signInAs(gateway.url, `${crypto.randomUUID()}@example.org`);
});
afterEach(() => {
  skewMs = 0;
});
afterAll(async () => {
  await gateway?.stop();
  hooks?.close();
  await kernel.kill();
  await database?.drop();
});

async function readiness() {
  const response = await fetch(`${gateway.url}/health/ready`);
  const { checks } = (await response.json()) as { checks: Record<string, string> }; // an answer of the gateway
  return { status: response.status, clock: checks['clock'], workers: checks['workers'] };
}
const workersBeing = (state: 'up' | 'down') => reaching(readiness, ({ workers }) => workers === state);
const runsOf = (taskId: string) => rowsOf(database, 'SELECT status FROM runs WHERE task_id = $1', [taskId]);

describe('a gateway whose clock is far from that of the database', () => {
  it.each([60_000, -60_000, dayAheadMs])('is not ready, and reports its clock as the reason: %d ms', async (ms) => {
    skewMs = ms;
    expect(await reaching(readiness, ({ clock }) => clock === 'down')).toMatchObject({ status: 503 });
    skewMs = 0;
    expect(await reaching(readiness, ({ clock }) => clock === 'up')).toMatchObject({ status: 200 });
  });

  it.each([60_000, -60_000])('starts no run, and reports the difference of the clocks: %d ms', async (ms) => {
    const { body: task } = await person.client.createTask({ body: { title: 'Tidy up', description: '' } });
    skewMs = ms;
    const refused = person.client.runTask({ params: { id: task.id } });
    await expect(refused).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/^The clock of this gateway is \d+ s (ahead of|behind) the database's/),
    });
    expect(await runsOf(task.id)).toEqual([]);
  });

  verifies('gw.run.escalate', 'ends no pending approval and no run that waits for it', async () => {
    const { taskId } = await startRun(person);
    await runReaching(person, taskId, ['awaiting_approval']);
    const { body } = await person.client.listWorkspaceApprovals({ query: { status: 'pending' } });
    skewMs = dayAheadMs;
    await workersBeing('down'); // a pass was due and did not start
    skewMs = 0;
    await workersBeing('up');
    const { body: after } = await person.client.listWorkspaceApprovals({ query: { status: 'pending' } });
    expect(after.data).toEqual(body.data);
    await person.client.resolveWorkspaceApproval({
      params: { id: body.data[0]?.id ?? '' },
      body: { status: 'approved' },
    });
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed' });
  });

  it('removes no row that has not expired by the clock of the database', async () => {
    const create = () =>
      fetch(new URL('/api/tasks', gateway.url), {
        method: 'POST',
        headers: { ...person.headers, 'content-type': 'application/json', 'idempotency-key': 'once' },
        body: JSON.stringify({ title: 'Once', description: '' }),
      });
    const first = await (await create()).text();
    skewMs = dayAheadMs;
    await sweep(gateway.context);
    skewMs = 0;
    expect(await (await create()).text()).toBe(first);
  });

  it('sends webhooks without delay once its clock is right again', async () => {
    const params = { id: person.workspace.id };
    const { port } = hooks.address() as AddressInfo; // it listens on TCP
    const target = `http://127.0.0.1:${port}/hook`;
    const body = { channel: 'webhook', target, eventTypes: ['invite.created'] } as const;
    await person.client.createSubscription({ params, body: { ...body, eventTypes: [...body.eventTypes] } });
    skewMs = 180_000; // more than this test waits, and less than the lifetime of a proof of presence
    await person.client.createInvite({ params, body: { email: 'bob@example.org', role: 'member' } });
    skewMs = 0;
    await until(async () => got.length > 0);
    expect(got).toHaveLength(1);
  });

  it.each(['is answered', 'fails'])('leaves a run whose step %s in the queue until its clock is right', async (end) => {
    kernel.verdictOf = () => 'ALLOW';
    let isFirst = true;
    kernel.beforeModelAnswer = async () => {
      if (!isFirst) return;
      isFirst = false;
      skewMs = 120_000;
      if (end === 'fails') throw new Error('refused');
    };
    const { taskId, runId } = await startRun(person);
    const isQueued = async () =>
      (await rowsOf(database, `SELECT FROM runs WHERE id = $1 AND status = 'queued' AND lease_fence > 0`, [runId]))
        .length === 1;
    await until(isQueued);
    skewMs = 0;
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed' });
  });
});
