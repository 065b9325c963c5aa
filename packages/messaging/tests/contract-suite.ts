import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ack,
  later,
  recordEvents,
  reject,
  retry,
  type Delivery,
  type Message,
  type MessageBus,
} from '@countersign/messaging';
import { inTransaction } from '@countersign/database';
import { databaseUrl, type DriverName } from './drivers.ts';
import { noteSubscription, noteTaken, noteWanted, writeEffect } from './note.ts';
import { eventually, newEvent, World } from './world.ts';

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);
const sorted = (values: number[]) => [...values].sort((one, next) => one - next);

/** The guarantees of every driver, tested with real servers. */
export function describeMessageBus(driver: DriverName): void {
  let world: World;
  let bus: MessageBus;
  beforeEach(async () => {
    world = await World.create(driver);
    bus = world.startBus();
  });
  afterEach(() => world.destroy());

  /** Opens one bus with a consumer and a relay. */
  async function carry(over: Parameters<typeof noteSubscription>[2] = {}) {
    await bus.consume(noteSubscription(world.driverDatabase, world.queue, over)).subscribed;
    return world.startRelay(bus);
  }

  describe('publishing', () => {
    it('publishes nothing from a transaction that rolled back', async () => {
      await carry();
      const rolledBack = inTransaction(world.database.pool, async (tx) => {
        await recordEvents(tx, [newEvent(noteTaken, { value: 0 })]);
        throw new Error('changed my mind');
      });
      await expect(rolledBack).rejects.toThrow('changed my mind');
      await world.recordNotes(1, 1);
      await eventually(async () => expect(await world.effects()).toEqual([1]));
    });

    it('keeps the order of one relay for a consumer that handles one message at a time', async () => {
      await carry({ prefetch: 1 });
      for (const nth of upTo(20)) await world.recordNotes(nth * 30, 30);
      await eventually(async () => expect(await world.effects()).toHaveLength(600));
      expect(await world.effects()).toEqual(upTo(600));
      await eventually(async () => expect(await world.unsent()).toBe(0));
    });

    it('publishes each message once when two relays share one outbox', async () => {
      const published: string[] = [];
      const counting: MessageBus = {
        ...bus,
        publish: (batch) => {
          published.push(...batch.map(({ id }) => id));
          return bus.publish(batch);
        },
      };
      await bus.consume(noteSubscription(world.driverDatabase, world.queue)).subscribed;
      await eventually(() => expect(bus.status().connected).toBe(true));
      await world.recordNotes(0, 300);
      for (const batchSize of [7, 11]) world.startRelay(counting, { batchSize });
      await eventually(async () => expect(sorted(await world.effects())).toEqual(upTo(300)));
      expect(published).toHaveLength(300);
    });

    it('keeps a command that matches no queue, and does not delay later messages', async () => {
      const relay = world.startRelay(bus);
      await world.record(newEvent(noteWanted, { value: 0 }), newEvent(noteTaken, { value: 1 }));
      await eventually(() => expect(world.reports.some(({ name }) => name === 'unroutable')).toBe(true));
      await eventually(() => expect(relay.status()).toEqual({ connected: true, backlog: 1 }));
      await bus.consume(noteSubscription(world.driverDatabase, world.queue)).subscribed;
      await eventually(async () => expect(await world.effects()).toEqual([0]));
    });
  });

  describe('handling', () => {
    it('handles a message only once when it is delivered three times', async () => {
      await carry({ prefetch: 1 });
      const first = messageOf(0);
      for (const message of [first, first, first, messageOf(1)]) await bus.publish([message]);
      await eventually(async () => expect(await world.effects()).toEqual([0, 1]));
    });

    it('moves a poison message to the dead letters after its last delivery, rolls back its writes, and redrives it', async () => {
      const deliveries: number[] = [];
      let poisonous = true;
      await carry({
        maxDeliveries: 3,
        handler: async (event, tx, { number }) => {
          await writeEffect(tx, event.data.value);
          deliveries.push(number);
          if (poisonous) throw new Error('poison');
          return ack;
        },
      });
      await world.recordNotes(7, 1);
      await eventually(async () => expect(await world.deadLetters()).toBe(1));
      expect(deliveries).toEqual([1, 2, 3]);
      const death = world.reports.find(({ name }) => name === 'dead-lettered');
      expect(death?.fields).toMatchObject({ queue: world.queue, number: 3, reason: 'delivery limit: poison' });
      expect(await world.effects()).toEqual([]);
      poisonous = false;
      expect(await bus.redrive(world.queue)).toBe(1);
      await eventually(async () => expect(await world.effects()).toEqual([7]));
      expect(await world.deadLetters()).toBe(0);
    });

    it('lists dead letters repeatedly, and moves one or all of them', async () => {
      const taken: number[] = [];
      let isOpen = false;
      await carry({
        handler: async ({ data }) => {
          taken.push(data.value);
          return isOpen ? ack : reject('not yet');
        },
      });
      const letters = await world.openDeadLetters();
      expect([await letters.count(world.queue), await bus.countDeadLetters()]).toEqual([0, 0]);
      expect([await letters.list(world.queue), await letters.count(`${world.queue}.unheard-of`)]).toEqual([[], 0]);
      await world.recordNotes(0, 3);
      await eventually(async () =>
        expect([await letters.count(world.queue), await bus.countDeadLetters()]).toEqual([3, 3]),
      );
      const first = await letters.list(world.queue);
      // Lists the letters more often than the delivery limit of the broker, because listing must not count as a
      // delivery.
      for (let nth = 0; nth < 30; nth += 1) expect(await letters.list(world.queue)).toEqual(first);
      expect(first.map(({ type }) => type)).toEqual(Array(3).fill(noteTaken.type));
      expect(first.map(({ reason }) => reason)).toEqual(
        Array(3).fill(world.driver === 'rabbitmq' ? 'rejected' : 'not yet'),
      );
      for (const { deadAt } of first) expect(Math.abs((deadAt?.getTime() ?? 0) - Date.now())).toBeLessThan(60_000);
      isOpen = true;
      taken.length = 0;
      expect(await letters.redrive(world.queue, 'no-such-message')).toBe(0);
      expect(await letters.redrive(world.queue, first[1]?.messageId)).toBe(1);
      await eventually(() => expect(taken).toHaveLength(1));
      expect((await letters.list(world.queue)).map(({ messageId }) => messageId)).toEqual([
        first[0]?.messageId,
        first[2]?.messageId,
      ]);
      expect(await letters.redrive(world.queue)).toBe(2);
      await eventually(() => expect(sorted(taken)).toEqual([0, 1, 2]));
      expect([await letters.count(world.queue), await bus.countDeadLetters()]).toEqual([0, 0]);
    });

    it('redelivers a message whose handler requests a retry, and rolls back its writes', async () => {
      await carry({
        handler: async (_event, tx, { number }) => {
          await writeEffect(tx, number);
          return number < 3 ? retry('not yet', 5) : ack;
        },
      });
      await world.recordNotes(8, 1);
      await eventually(async () => expect(await world.effects()).toEqual([3]));
    });

    it('reports a retry after a failure, but not a request of the handler for a later delivery', async () => {
      await carry({
        handler: async (event, _tx, { number }) => {
          if (number > 1) return ack;
          return event.data.value === 1 ? retry('not yet', 5) : later(5);
        },
      });
      await bus.publish([messageOf(1), messageOf(2)]);
      await eventually(async () => expect(bus.status().handling).toBe(0));
      await eventually(() =>
        expect(world.reports).toMatchObject([{ name: 'delivery-retried', fields: { reason: 'not yet' } }]),
      );
    });

    it('moves rejected messages and invalid events to the dead letters at once', async () => {
      const seen: number[] = [];
      await carry({
        handler: async (event) => {
          seen.push(event.data.value);
          return reject('never');
        },
      });
      await bus.publish([messageOf(1), { ...messageOf(2), body: '{"value":' }, messageOf('three')]);
      await eventually(async () => expect(await world.deadLetters()).toBe(3));
      expect(seen).toEqual([1]);
    });

    it('signals a shutdown to a long job, and delivers its message again afterwards', async () => {
      const seen: Delivery[] = [];
      const { handler, acts, ...job } = noteSubscription(world.driverDatabase, world.queue);
      const started = bus.consume({
        ...job,
        acts: 'outside-transaction',
        handler: async (_event, delivery) => {
          seen.push(delivery);
          await new Promise((resolve) => delivery.signal.addEventListener('abort', resolve));
          return retry('stopped');
        },
      });
      await started.subscribed;
      world.startRelay(bus);
      await world.recordNotes(5, 1);
      await eventually(() => expect(bus.status().handling).toBe(1));
      await bus.close({ graceMs: 60_000 });
      const next = world.startBus();
      next.consume({
        ...job,
        acts: 'outside-transaction',
        handler: async (_event, delivery) => (seen.push(delivery), ack),
      });
      await eventually(() => expect(seen.map(({ number }) => number)).toEqual([1, 2]));
      expect(await world.unsent()).toBe(0);
    });
  });

  describe('failures', () => {
    it('survives a lost connection without a lost message or a second effect', async () => {
      const relay = await carry();
      await world.recordNotes(0, 800);
      await eventually(async () => expect((await world.effects()).length).toBeGreaterThan(20));
      world.network.cut();
      await world.recordNotes(800, 100);
      await eventually(() => expect(relay.status().connected && relay.status().failing === undefined).toBe(false));
      expect(await world.unsent()).toBeGreaterThanOrEqual(100);
      world.network.restore();
      await eventually(async () => expect(await world.effects()).toHaveLength(900));
      await eventually(() => expect(relay.status()).toEqual({ connected: true, backlog: 0 }));
      expect(sorted(await world.effects())).toEqual(upTo(900));
    });

    it('delivers all messages after kill -9 of the process that relays and handles', async () => {
      await world.recordNotes(0, 1_000);
      await killAfter(30, { ...world.settings, databaseUrl, schema: world.name, queue: world.queue });
      expect((await world.effects()).length).toBeLessThan(1_000);
      await carry();
      await eventually(async () => expect(await world.effects()).toHaveLength(1_000));
      expect(sorted(await world.effects())).toEqual(upTo(1_000));
      await eventually(async () => expect(await world.unsent()).toBe(0));
    });
  });
}

function messageOf(value: unknown): Message {
  const { event } = newEvent(noteTaken, { value: 0 });
  return { id: event.id, type: event.type, body: JSON.stringify({ ...event, data: { value } }), needsConsumer: false };
}

/** Starts a process that relays and consumes, and kills it when it has handled `lines` messages. */
async function killAfter(lines: number, settings: object): Promise<void> {
  const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  const args = ['--import', file('../../../tests/runner/typescript.mjs'), file('relay-process.ts')];
  const child = spawn(process.execPath, [...args, JSON.stringify(settings)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let seen = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    seen += chunk.toString().split('\n').length - 1;
    if (seen >= lines) child.kill('SIGKILL');
  });
  const signal = await new Promise((resolve) => child.once('exit', (_code, reason) => resolve(reason)));
  expect(signal).toBe('SIGKILL');
}
