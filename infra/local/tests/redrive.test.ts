import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '@countersign/testkit/until';
import { RunId, TaskId, WorkspaceId } from '@countersign/contracts';
import { runEnqueued } from '@countersign/contracts/gateway';
import { inTransaction, openDatabase, type Database } from '@countersign/database';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import { gatewayQueues } from '@countersign/gateway';
import { ack, eventFactory, openBus, reject, type MessageBus } from '@countersign/messaging';
import { removeTopology } from '@countersign/messaging/testing';
import { runRedrive } from '../src/redrive/command.ts';

const amqpUrl = process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';
const serviceDir = fileURLToPath(new URL('../../../services/gateway', import.meta.url));
const newEvent = eventFactory({ source: '/redrive-test' });
const ulid = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const data = {
  workspaceId: WorkspaceId.parse(`wsp_${ulid}`),
  taskId: TaskId.parse(`tsk_${ulid}`),
  runId: RunId.parse(`run_${ulid}`),
};

async function redrive(argv: string[], env: Record<string, string>) {
  let written = '';
  let message = '';
  const streams = { write: (text: string) => void (written += text), tell: (text: string) => void (message += text) };
  const status = await runRedrive(argv, streams, env);
  return { status, written, told: message };
}

describe.each(['RabbitMQ', 'the in-process bus'])('dead letters of %s', (driver) => {
  const exchange = `countersign-test-${randomBytes(6).toString('hex')}`;
  const queue = gatewayQueues(exchange).runs;
  const isBroker = driver === 'RabbitMQ';
  let scratch: TestDatabase;
  let database: Database;
  let bus: MessageBus;
  let env: Record<string, string>;
  let handled: string[];
  let isOpen: boolean;

  beforeAll(async () => {
    scratch = await createTestDatabase({ serviceDir, schema: 'gateway' });
    database = openDatabase({ url: scratch.url, schema: 'gateway' });
    bus = openBus({ amqpUrl: isBroker ? amqpUrl : null, exchange, name: 'redrive test', report: () => undefined });
    env = isBroker ? { AMQP_URL: amqpUrl, GOV_AMQP_EXCHANGE: exchange } : { DATABASE_URL: scratch.url };
    const { subscribed } = bus.consume({
      queue,
      events: [runEnqueued],
      transaction: (work) => inTransaction(database.pool, work),
      handler: async ({ id }) => {
        handled.push(id);
        return isOpen ? ack : reject('the \u001b[31mrun\u001b[0m is not there');
      },
    });
    await subscribed;
    await until(() => bus.status().connected);
  });

  beforeEach(() => {
    handled = [];
    isOpen = false;
  });

  afterAll(async () => {
    await bus?.close();
    if (isBroker) await removeTopology(amqpUrl, { exchange, queues: [queue] });
    await database?.close();
    await scratch?.drop();
  });

  async function killed(count: number): Promise<string[]> {
    const events = Array.from({ length: count }, () => newEvent(runEnqueued, data).event);
    const messages = events.map((event) => ({
      id: event.id,
      type: event.type,
      body: JSON.stringify(event),
      needsConsumer: true,
    }));
    await bus.publish(messages);
    await until(async () => (await bus.countDeadLetters()) === count);
    return events.map(({ id }) => id);
  }

  it('are listed, moved back on request, and handled once', async () => {
    const none = await redrive([], env);
    expect([none.status, none.written]).toEqual([0, expect.stringMatching(/^There are no dead letters at /)]);
    const ids = await killed(3);
    const seen = await redrive([], env);
    expect(seen.status).toBe(1);
    expect(seen.written).toContain(`${queue}: 3, the oldest of 2`);
    expect(seen.written).toContain(`make redrive queue=${queue} move=1`);
    expect(seen.written).toContain(isBroker ? '(rejected)' : 'run');
    // eslint-disable-next-line no-control-regex -- the message of a handler may contain control characters
    expect(seen.written).not.toMatch(/\u001b/);
    const one = await redrive(['--queue', queue], env);
    for (const id of ids) expect(one.written).toContain(`  ${id}  run.enqueued.v1  2`);
    const [first = '', ...rest] = ids;
    const json = JSON.parse((await redrive(['--queue', queue, '--message', first, '--json'], env)).written) as object;
    expect(json).toMatchObject({ moved: 0, queues: [{ queue, count: 3, letters: [{ messageId: first }] }] });
    expect(handled).toHaveLength(3);

    isOpen = true;
    handled = [];
    const moved = await redrive(['--queue', queue, '--message', first, '--move'], env);
    expect(moved).toEqual({ status: 0, written: `Dead letters of ${queue}: 1 moved back, 2 left\n`, told: '' });
    await until(() => handled.length === 1);
    expect(await redrive(['--queue', queue, '--message', first, '--move'], env)).toMatchObject({ status: 1 });
    const all = await redrive(['--queue', queue, '--move', '--json'], env);
    expect([all.status, JSON.parse(all.written)]).toMatchObject([0, { moved: 2, left: 0 }]);
    await until(() => handled.length === 3);
    expect([...handled].sort()).toEqual([first, ...rest].sort());
    expect(await redrive([], env)).toMatchObject({ status: 0 });
    expect(await redrive(['--queue', queue, '--move'], env)).toMatchObject({ status: 1 });
  });
});

describe('the redrive command', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'countersign-redrive-'));
  afterAll(() => rmSync(dataDir, { recursive: true }));

  it.each<[string, string[], Record<string, string>, RegExp]>([
    ['without a running installation', [], { GOV_DATA_DIR: dataDir }, /^Countersign does not run on .*make up/],
    ['with an unavailable broker', [], { AMQP_URL: 'amqp://ada:geheim@127.0.0.1:1' }, /ECONNREFUSED/],
    ['with an unavailable database', ['--url', 'postgres://ada:geheim@127.0.0.1:1/x'], {}, /ECONNREFUSED/],
    [
      'with the address of another server',
      ['--url', 'https://ada:geheim@example.org'],
      {},
      /not the address of a broker or a database/,
    ],
    ['that would move all messages', ['--move'], { AMQP_URL: amqpUrl }, /Name it with queue=/],
    ['with a message and no queue', ['--message', 'x'], {}, /needs the queue of the message/],
    ['with a misspelt option', ['--mvoe'], {}, /mvoe/],
    ['with an invalid name of an exchange', [], { GOV_AMQP_EXCHANGE: 'A B' }, /GOV_AMQP_EXCHANGE/],
  ])('%s reports the reason in one line', async (_name, argv, env, why) => {
    const { status, written, told } = await redrive(argv, env);
    expect([status, written]).toEqual([2, '']);
    expect(told).toMatch(why);
    expect(told.trim().split('\n')).toHaveLength(1);
    expect(told).not.toContain('geheim');
  });

  it('reports that a role without rights sees no dead letters', async () => {
    const scratch = await createTestDatabase({ serviceDir, schema: 'gateway' });
    const admin = openDatabase({ url: scratch.adminUrl, schema: 'public' });
    await admin.pool.query('ALTER SCHEMA gateway RENAME TO elsewhere');
    await admin.close();
    expect(await redrive([], { DATABASE_URL: scratch.url })).toMatchObject({
      status: 2,
      told: expect.stringContaining('may not read the dead letters'),
    });
    await scratch.drop();
  });

  it('prints its usage when help is requested', async () => {
    const { status, written } = await redrive(['--help'], {});
    expect([status, written]).toEqual([0, expect.stringContaining('Exit status: 0')]);
  });
});
