import type { ChannelModel, ConfirmChannel, Message as AmqpMessage } from 'amqplib';
import type { Clock } from './clock.ts';
import { keepOpen, type Retrying } from './keep-open.ts';
import type { Message, Report } from './message-bus.ts';
import { closing, type RabbitLink } from './rabbit-link.ts';
import { deadQueueOf, declareExchanges } from './rabbit-topology.ts';

// A healthy broker confirms in milliseconds. Below idle_in_transaction_session_timeout: the relay holds its rows meanwhile.
const ANSWER_TIMEOUT_MS = 10_000;

export class RabbitPublisher {
  readonly #exchange: string;
  readonly #clock: Clock;
  readonly #link: RabbitLink;
  #channel: ConfirmChannel | undefined;

  constructor(link: RabbitLink, { exchange, report, ...retrying }: Retrying & { exchange: string; report: Report }) {
    this.#exchange = exchange;
    this.#clock = retrying.clock;
    this.#link = link;
    link.attach((connection, lost) => {
      const onLost = (reason: string) =>
        report({ name: 'connection-lost', fields: { connection: 'publisher', reason } });
      void keepOpen({ ...retrying, signal: lost, open: () => this.#open(connection), onLost });
    });
  }

  get open(): boolean {
    return this.#channel !== undefined;
  }

  /** All messages are in flight at once; the caller bounds the batch, so the channel's own back-pressure is not needed. */
  async publish(batch: readonly Message[]): Promise<{ unroutable: string[] }> {
    const channel = this.#channel;
    if (channel === undefined) throw new Error('RabbitMQ is not connected.');
    const returned = new Set<unknown>();
    // The broker returns an unroutable mandatory message before it confirms it.
    const onReturn = ({ properties }: AmqpMessage) => void returned.add(properties.messageId);
    channel.on('return', onReturn);
    try {
      await this.#confirm(
        channel,
        Promise.all(batch.map((message) => confirmed(channel, this.#exchange, message.type, message))),
      );
    } finally {
      channel.off('return', onReturn);
    }
    return { unroutable: batch.flatMap(({ id }) => (returned.has(id) ? [id] : [])) };
  }

  /** One message at a time: it leaves the dead-letter queue only after the queue has confirmed it. */
  async redrive(queue: string): Promise<number> {
    const connection = await inTime(this.#clock, this.#link.connected());
    const channel = await connection.createConfirmChannel();
    void closing(channel);
    // Bounded by the count at the start: what dies again meanwhile is not driven in circles.
    const { messageCount } = await channel.checkQueue(deadQueueOf(queue));
    let moved = 0;
    while (moved < messageCount) {
      const letter = await channel.get(deadQueueOf(queue));
      if (letter === false) break;
      const { messageId, type } = letter.properties as { messageId: string; type: string }; // amqplib types them as any
      await this.#confirm(
        channel,
        confirmed(channel, '', queue, { id: messageId, type, body: letter.content, needsConsumer: false }),
      );
      channel.ack(letter);
      moved += 1;
    }
    await channel.close();
    return moved;
  }

  async #open(connection: ChannelModel): Promise<{ closed: Promise<string> }> {
    const channel = await connection.createConfirmChannel();
    const closed = closing(channel).finally(() => (this.#channel = undefined));
    await declareExchanges(channel, this.#exchange);
    this.#channel = channel;
    return { closed };
  }

  async #confirm(channel: ConfirmChannel, confirms: Promise<unknown>): Promise<void> {
    try {
      await inTime(this.#clock, confirms);
    } catch (error) {
      // A channel that swallowed or refused a message is not trusted again.
      void channel.close().catch(() => undefined);
      throw error;
    }
  }
}

async function inTime<T>(clock: Clock, work: Promise<T>): Promise<T> {
  const done = new AbortController();
  const late = clock.sleep(ANSWER_TIMEOUT_MS, done.signal).then(() => {
    throw new Error('RabbitMQ did not answer in time.');
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    late.catch(() => undefined);
    done.abort();
  }
}

type Publication = { id: string; type: string; body: string | Buffer; needsConsumer: boolean };

function confirmed(channel: ConfirmChannel, exchange: string, routingKey: string, message: Publication): Promise<void> {
  const { id, type, body, needsConsumer } = message;
  const content = typeof body === 'string' ? Buffer.from(body) : body;
  const contentType = 'application/cloudevents+json; charset=utf-8';
  const options = { persistent: true, mandatory: needsConsumer, messageId: id, type, contentType };
  return new Promise((resolve, reject) => {
    channel.publish(exchange, routingKey, content, options, (error) => (error ? reject(error) : resolve()));
  });
}
