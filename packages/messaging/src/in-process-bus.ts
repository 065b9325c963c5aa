import { systemClock, type Clock } from './clock.ts';
import { LocalQueue } from './local-queue.ts';
import { silent, type Message, type MessageBus, type Report } from './message-bus.ts';
import { graceMsDefault } from './running-deliveries.ts';
import { sum } from './sum.ts';
import { matchesTopic } from './topic-pattern.ts';

type InProcessBusOptions = {
  /** If true, publishing fails until `release()`, so that services that start later miss no event. */
  paused?: boolean;
  clock?: Clock;
  random?: () => number;
  report?: Report;
};

export type InProcessBus = MessageBus & {
  /** Opens the bus. Call it when all queues of this process are declared. */
  release(): void;
};

/**
 * The bus of the single-process profile. `publish` resolves when the `deliveries` table of each matching service
 * contains the messages. They are therefore delivered again after a kill -9 at any point. All services of the process
 * share one bus. A pool that a relay and a consumer share needs two connections.
 */
export function createInProcessBus(options: InProcessBusOptions = {}): InProcessBus {
  const { paused: reserved = false, ...input } = options;
  const context = { clock: systemClock, random: Math.random, report: silent, ...input };
  const queues = new Map<string, LocalQueue>();
  let open = !reserved;

  return {
    async publish(batch) {
      if (!open) throw new Error('The in-process bus is paused or closed.');
      for (const queue of queues.values()) {
        const wanted = batch.filter((message) => takes(queue, message));
        if (wanted.length > 0) await queue.enqueue(wanted);
      }
      const taken = (message: Message) => [...queues.values()].some((queue) => takes(queue, message));
      return { unroutable: batch.filter((message) => message.needsConsumer && !taken(message)).map(({ id }) => id) };
    },
    consume(subscription) {
      if (queues.has(subscription.queue)) throw new Error(`Queue ${subscription.queue} already has a consumer.`);
      const queue = new LocalQueue(subscription, context);
      queues.set(subscription.queue, queue);
      return { subscribed: queue.subscribed };
    },
    async redrive(name) {
      const queue = queues.get(name);
      if (queue === undefined) throw new Error(`Queue ${name} has no consumer in this process.`);
      return queue.redrive();
    },
    countDeadLetters: async () => sum(await Promise.all([...queues.values()].map((queue) => queue.countDeadLetters()))),
    status: () => ({
      driver: 'in-process',
      connected: open,
      consuming: [...queues.keys()],
      handling: sum([...queues.values()].map(({ handling }) => handling)),
    }),
    async close({ graceMs = graceMsDefault } = {}) {
      open = false;
      await Promise.all([...queues.values()].map((queue) => queue.close(graceMs)));
    },
    release() {
      open = true;
    },
  };
}

function takes({ subscription }: LocalQueue, { type }: Message): boolean {
  return subscription.events.some((definition) => matchesTopic(definition.type, type));
}
