import type { Channel } from 'amqplib';

// The delivery limit belongs to the subscription and can change. The limit of a queue cannot change. It is set high,
// because the default of RabbitMQ 4 is 20.
const brokerDeliveryLimit = 1_000;

export function deadQueueOf(queue: string): string {
  return `${queue}.dead`;
}

export async function declareExchanges(channel: Channel, exchange: string): Promise<void> {
  await channel.assertExchange(exchange, 'topic', { durable: true });
  await channel.assertExchange(deadExchangeOf(exchange), 'direct', { durable: true });
}

/**
 * Declares the queue and its dead-letter queue, both replicated. Throws when either queue exists with other arguments.
 */
export async function declareQueue(
  channel: Channel,
  { exchange, queue, bindings }: { exchange: string; queue: string; bindings: readonly string[] },
): Promise<void> {
  await declareExchanges(channel, exchange);
  await channel.assertQueue(deadQueueOf(queue), { durable: true, arguments: { 'x-queue-type': 'quorum' } });
  await channel.bindQueue(deadQueueOf(queue), deadExchangeOf(exchange), queue);
  await channel.assertQueue(queue, {
    durable: true,
    arguments: {
      'x-queue-type': 'quorum',
      'x-delivery-limit': brokerDeliveryLimit,
      'x-dead-letter-exchange': deadExchangeOf(exchange),
      'x-dead-letter-routing-key': queue,
      // A message stays in the queue until the dead-letter queue has confirmed it. The broker requires reject-publish
      // for this.
      'x-dead-letter-strategy': 'at-least-once',
      'x-overflow': 'reject-publish',
    },
  });
  for (const binding of bindings) await channel.bindQueue(queue, exchange, binding);
}

export function deadExchangeOf(exchange: string): string {
  return `${exchange}.dead`;
}
