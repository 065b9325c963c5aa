import { reconnectBackoff, type Backoff } from './backoff.ts';
import { systemClock, type Clock } from './clock.ts';
import { silent, type MessageBus, type Report } from './message-bus.ts';
import { RabbitConsumer } from './rabbit-consumer.ts';
import { RabbitLink } from './rabbit-link.ts';
import { RabbitPublisher } from './rabbit-publisher.ts';
import { graceMsDefault } from './running-deliveries.ts';
import { sum } from './sum.ts';

type RabbitBusOptions = {
  url: string;
  exchange: string;
  /** Shown in the broker's list of connections. */
  name: string;
  backoff?: Backoff;
  clock?: Clock;
  random?: () => number;
  report?: Report;
};

/**
 * Creates a bus over RabbitMQ. It returns at once and connects in the background without a time limit: see
 * `status().connected`. Publishing and consuming use separate connections. A broker without free memory blocks
 * publishers, but must still receive acknowledgements.
 */
export function createRabbitBus(options: RabbitBusOptions): MessageBus {
  const { url, exchange, name, ...input } = options;
  const context = { backoff: reconnectBackoff, clock: systemClock, random: Math.random, report: silent, ...input };
  const publishing = new RabbitLink({ url, name: `${name} publisher`, ...context });
  const publisher = new RabbitPublisher(publishing, { exchange, ...context });
  const consumers: RabbitConsumer[] = [];
  let consuming: RabbitLink | undefined;

  return {
    publish: (batch) => publisher.publish(batch),
    redrive: (queue) => publisher.redrive(queue),
    consume(subscription) {
      consuming ??= new RabbitLink({ url, name: `${name} consumer`, ...context });
      const consumer = new RabbitConsumer(subscription, { link: consuming, exchange, ...context });
      consumers.push(consumer);
      return { subscribed: consumer.subscribed };
    },
    countDeadLetters: async () => sum(await Promise.all(consumers.map((consumer) => consumer.countDeadLetters()))),
    status: () => ({
      driver: 'rabbitmq',
      connected: publisher.open,
      consuming: consumers.filter(({ live }) => live).map(({ queue }) => queue),
      handling: sum(consumers.map(({ handling }) => handling)),
    }),
    async close({ graceMs = graceMsDefault } = {}) {
      await Promise.all(consumers.map((consumer) => consumer.close(graceMs)));
      await Promise.all([consuming?.close(), publishing.close()]);
    },
  };
}
