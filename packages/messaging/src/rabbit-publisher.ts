import type { ChannelModel, ConfirmChannel, Message as AmqpMessage } from 'amqplib';
import type { Clock } from './clock.ts';
import { keepOpen, type Retrying } from './keep-open.ts';
import type { Message, Report } from './message-bus.ts';
import { closing, type RabbitLink } from './rabbit-link.ts';
import { deadQueueOf, declareExchanges } from './rabbit-topology.ts';

// A healthy broker confirms in milliseconds. Below idle_in_transaction_session_timeout: the relay holds its rows meanwhile.
const answerTimeoutMs = 10_000;

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
    if (this.#channel === undefined) throw new Error('RabbitMQ is not connected.');
    const publications = batch.map((message) => ({ ...message, exchange: this.#exchange, routingKey: message.type }));
    return { unroutable: await this.#confirm(this.#channel, publications) };
  }

  /** One message at a time: it leaves the dead-letter queue only after its queue has confirmed it. */
  async redrive(queue: string): Promise<number> {
    const connection = await inTime(this.#clock, this.#link.connected());
    const channel = await connection.createConfirmChannel();
    void closing(channel);
    try {
      // Bounded by the count at the start: what dies again meanwhile is not driven in circles.
      const { messageCount } = await channel.checkQueue(deadQueueOf(queue));
      for (let moved = 0; moved < messageCount; moved += 1) {
        const letter = await channel.get(deadQueueOf(queue));
        if (letter === false) return moved;
        const { messageId: id, type } = letter.properties as { messageId: string; type: string }; // amqplib types them as any
        const message = { id, type, body: letter.content, needsConsumer: true, exchange: '', routingKey: queue };
        const unroutable = await this.#confirm(channel, [message]);
        if (unroutable.length > 0) throw new Error(`Queue ${queue} does not exist.`);
        channel.ack(letter);
      }
      return messageCount;
    } finally {
      await channel.close().catch(() => undefined);
    }
  }

  async #open(connection: ChannelModel): Promise<{ closed: Promise<string> }> {
    const channel = await connection.createConfirmChannel();
    const closed = closing(channel).finally(() => (this.#channel = undefined));
    await declareExchanges(channel, this.#exchange);
    this.#channel = channel;
    return { closed };
  }

  async #confirm(channel: ConfirmChannel, publications: Publication[]): Promise<string[]> {
    const returned = new Set<unknown>();
    // The broker returns an unroutable mandatory message before it confirms it.
    const onReturn = ({ properties }: AmqpMessage) => void returned.add(properties.messageId);
    channel.on('return', onReturn);
    try {
      await inTime(this.#clock, Promise.all(publications.map((publication) => confirmed(channel, publication))));
      return publications.flatMap(({ id }) => (returned.has(id) ? [id] : []));
    } catch (error) {
      // A channel that swallowed or refused a message is not trusted again.
      void channel.close().catch(() => undefined);
      throw error;
    } finally {
      channel.off('return', onReturn);
    }
  }
}

async function inTime<T>(clock: Clock, work: Promise<T>): Promise<T> {
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

type Publication = Omit<Message, 'body'> & { body: string | Buffer; exchange: string; routingKey: string };

function confirmed(channel: ConfirmChannel, publication: Publication): Promise<void> {
  const { id, type, body, needsConsumer, exchange, routingKey } = publication;
  const content = typeof body === 'string' ? Buffer.from(body) : body;
  const contentType = 'application/cloudevents+json; charset=utf-8';
  const options = { persistent: true, mandatory: needsConsumer, messageId: id, type, contentType };
  return new Promise((resolve, reject) => {
    channel.publish(exchange, routingKey, content, options, (error: unknown) =>
      error ? reject(error instanceof Error ? error : new Error('publish refused')) : resolve(),
    );
  });
}
