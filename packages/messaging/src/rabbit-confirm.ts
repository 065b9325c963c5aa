import type { ConfirmChannel, Message as AmqpMessage } from 'amqplib';
import type { Clock } from './clock.ts';
import type { Message } from './message-bus.ts';

// A healthy broker confirms in milliseconds. The limit is below idle_in_transaction_session_timeout, because the relay
// locks its rows during the wait.
const answerTimeoutMs = 10_000;

type Publication = Omit<Message, 'body'> & {
  body: string | Buffer;
  exchange: string;
  routingKey: string;
  headers?: Record<string, unknown>;
};

/**
 * Resolves when the broker has accepted all messages. Returns the ids of messages with `needsConsumer` that it could
 * not route.
 */
export async function publishConfirmed(
  channel: ConfirmChannel,
  publications: readonly Publication[],
  clock: Clock,
): Promise<string[]> {
  const returned = new Set<unknown>();
  // The broker returns an unroutable mandatory message before it confirms it.
  const onReturn = ({ properties }: AmqpMessage) => void returned.add(properties.messageId);
  channel.on('return', onReturn);
  try {
    await inTime(clock, Promise.all(publications.map((publication) => confirmed(channel, publication))));
    return publications.flatMap(({ id }) => (returned.has(id) ? [id] : []));
  } catch (error) {
    // A channel that lost or refused a message is not used again.
    void channel.close().catch(() => undefined);
    throw error;
  } finally {
    channel.off('return', onReturn);
  }
}

export async function inTime<T>(clock: Clock, work: Promise<T>): Promise<T> {
  const done = new AbortController();
  const late = clock.sleep(answerTimeoutMs, done.signal).then(() => {
    throw new Error('RabbitMQ did not answer in time.');
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    late.catch(() => undefined);
    done.abort();
  }
}

function confirmed(channel: ConfirmChannel, publication: Publication): Promise<void> {
  const { id, type, body, needsConsumer, exchange, routingKey, headers = {} } = publication;
  const content = typeof body === 'string' ? Buffer.from(body) : body;
  const contentType = 'application/cloudevents+json; charset=utf-8';
  const options = { persistent: true, mandatory: needsConsumer, messageId: id, type, contentType, headers };
  return new Promise((resolve, reject) => {
    channel.publish(exchange, routingKey, content, options, (error: unknown) =>
      error ? reject(error instanceof Error ? error : new Error('publish refused')) : resolve(),
    );
  });
}
