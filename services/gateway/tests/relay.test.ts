import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { TaskId, WorkspaceId } from '@countersign/contracts';
import type { TestDatabase } from '@countersign/database/testing';
import { openBus, type MessageBus } from '@countersign/messaging';
import { holdTimers } from '@countersign/testkit/held-timers';
import { until } from '@countersign/testkit/until';
import { publishTaskCreated } from '../src/events.ts';
import { newId } from '../src/ids.ts';
import type { StartedGateway } from '../src/index.ts';
import { startTestGateway, testConfig, testDatabase } from './_gateway.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let bus: MessageBus;
let passes = 0;

beforeAll(async () => {
  database = await testDatabase();
  bus = openBus({ amqpUrl: null, exchange: 'relay', name: 'relay', report: () => undefined });
  // The relay checks the status once in each pass.
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

const pollMs = 500;

it('the relay wakes up for a transaction with events, and not for a transaction without events', async () => {
  // The relay polls only by timer.
  const timers = holdTimers([pollMs]);
  try {
    await until(() => timers.waitingMs().length > 0);
    const before = passes;
    for (let made = 0; made < 20; made += 1) await gateway.context.transaction((tx) => tx.user.count());
    expect(passes).toBe(before);
    expect(timers.waitingMs()).toEqual([pollMs]);
    await gateway.context.transaction(async (tx) => {
      const place = { workspaceId: WorkspaceId.parse(newId('wsp')), taskId: TaskId.parse(newId('tsk')) };
      await publishTaskCreated(tx, gateway.context, place);
    });
    await until(() => passes > before);
    // One pass finds the event, and a second pass finds nothing more.
    await until(() => timers.waitingMs().length > 0);
    expect(passes - before).toBeLessThanOrEqual(2);
  } finally {
    timers.release();
  }
});
