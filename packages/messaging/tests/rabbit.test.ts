import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ack } from '@countersign/messaging';
import { describeMessageBus } from './contract-suite.ts';
import { noteSubscription } from './note.ts';
import { eventually, World } from './world.ts';

describe('the RabbitMQ bus', () => {
  describeMessageBus('rabbitmq');

  describe('while the broker cannot be reached', () => {
    let world: World;
    beforeEach(async () => {
      world = await World.create('rabbitmq');
    });
    afterEach(() => world.destroy());

    it('starts without a broker, and later delivers the recorded messages', async () => {
      world.network.cut();
      const bus = world.startBus();
      const { subscribed } = bus.consume(noteSubscription(world.database, world.queue));
      await world.recordNotes(0, 3);
      expect(bus.status()).toEqual({ driver: 'rabbitmq', connected: false, consuming: [], handling: 0 });
      world.network.restore();
      await subscribed;
      world.startRelay(bus);
      await eventually(async () => expect((await world.effects()).length).toBe(3));
      expect(bus.status()).toMatchObject({ connected: true, consuming: [world.queue] });
    });

    it('signals a lost delivery to a long job, and passes the message to the next handler', async () => {
      const bus = world.startBus();
      const numbers: number[] = [];
      const { handler, acts, ...job } = noteSubscription(world.database, world.queue);
      const { subscribed } = bus.consume({
        ...job,
        acts: 'outside-transaction',
        handler: async (_event, { number, signal }) => {
          numbers.push(number);
          if (number === 1) await new Promise((resolve) => signal.addEventListener('abort', resolve));
          return ack;
        },
      });
      await subscribed;
      world.startRelay(bus);
      await world.recordNotes(0, 1);
      await eventually(() => expect(numbers).toEqual([1]));
      world.network.cut();
      await eventually(() => expect(bus.status()).toMatchObject({ connected: false, handling: 0 }));
      world.network.restore();
      await eventually(() => expect(numbers).toEqual([1, 2]));
    });
  });
});
