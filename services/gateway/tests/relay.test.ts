import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { TaskId, WorkspaceId } from '@countersign/contracts';
import type { TestDatabase } from '@countersign/database/testing';
import { openBus, type MessageBus } from '@countersign/messaging';
import { publishTaskCreated } from '../src/events.ts';
import { newId } from '../src/ids.ts';
import type { StartedGateway } from '../src/index.ts';
import type { Tx } from '../src/store/database.ts';
import { startTestGateway, testConfig, testDatabase } from './_gateway.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let bus: MessageBus;
let passes = 0;

beforeAll(async () => {
  database = await testDatabase();
  bus = openBus({ amqpUrl: null, exchange: 'relay', name: 'relay', report: () => undefined });
  // The relay looks at it once in each pass.
  const status = () => {
    passes += 1;
    return bus.status();
  };
  const watched: MessageBus = { ...bus, status };
  gateway = await startTestGateway(testConfig(database, { GOV_RUN_WORKERS: '0' }), { bus: watched });
});

afterAll(async () => {
  await gateway?.stop();
  await bus?.close();
  await database?.drop();
});

const transactions = 20;
const pauseMs = 20;
const pollMs = 500;

/** How often the relay looked, and how often it would have by itself at most. */
async function passesDuring(work: (tx: Tx) => Promise<void>): Promise<{ made: number; polled: number }> {
  const [before, startedAt] = [passes, performance.now()];
  for (let made = 0; made < transactions; made += 1) {
    await gateway.context.transaction(work);
    await delay(pauseMs);
  }
  return { made: passes - before, polled: 2 + (performance.now() - startedAt) / pollMs };
}

it('wakes the relay for a transaction with events, and leaves it asleep for one without', async () => {
  const silent = await passesDuring(async (tx) => void (await tx.user.count()));
  expect(silent.made).toBeLessThanOrEqual(silent.polled);
  const telling = await passesDuring(async (tx) => {
    const place = { workspaceId: WorkspaceId.parse(newId('wsp')), taskId: TaskId.parse(newId('tsk')) };
    await publishTaskCreated(tx, gateway.context, place);
  });
  expect(telling.made).toBeGreaterThan(telling.polled);
});
