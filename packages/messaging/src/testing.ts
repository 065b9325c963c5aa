import { connect } from 'amqplib';
import { deadExchangeOf, deadQueueOf } from './rabbit-topology.ts';

/** Removes what was declared under one exchange, messages included: tests share a broker and leave nothing on it. */
export async function removeTopology(
  url: string,
  { exchange, queues }: { exchange: string; queues: readonly string[] },
): Promise<void> {
  const connection = await connect(url);
  try {
    const channel = await connection.createChannel();
    for (const queue of queues) for (const name of [queue, deadQueueOf(queue)]) await channel.deleteQueue(name);
    for (const name of [exchange, deadExchangeOf(exchange)]) await channel.deleteExchange(name);
  } finally {
    await connection.close();
  }
}
