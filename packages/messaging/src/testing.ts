import { connect, type Channel } from 'amqplib';
import { deadExchangeOf, deadQueueOf, declareQueue } from './rabbit-topology.ts';

/** Declares a queue like its consumer, so that messages can wait for the consumer. */
export async function declareTopology(
  url: string,
  { exchange, queue, events }: { exchange: string; queue: string; events: readonly { type: string }[] },
): Promise<void> {
  const bindings = events.map(({ type }) => type);
  await withChannel(url, (channel) => declareQueue(channel, { exchange, queue, bindings }));
}

/** Removes the exchange and its queues with their messages, because tests share a broker. */
export async function removeTopology(
  url: string,
  { exchange, queues }: { exchange: string; queues: readonly string[] },
): Promise<void> {
  await withChannel(url, async (channel) => {
    for (const queue of queues) for (const name of [queue, deadQueueOf(queue)]) await channel.deleteQueue(name);
    for (const name of [exchange, deadExchangeOf(exchange)]) await channel.deleteExchange(name);
  });
}

async function withChannel(url: string, work: (channel: Channel) => Promise<void>): Promise<void> {
  const connection = await connect(url);
  try {
    await work(await connection.createChannel());
  } finally {
    await connection.close();
  }
}

/** The number of messages in a queue, and the number of its dead letters. */
export async function countMessages(url: string, queue: string): Promise<{ waiting: number; dead: number }> {
  const connection = await connect(url);
  try {
    const channel = await connection.createChannel();
    const [waiting, dead] = [await channel.checkQueue(queue), await channel.checkQueue(deadQueueOf(queue))];
    return { waiting: waiting.messageCount, dead: dead.messageCount };
  } finally {
    await connection.close();
  }
}
