import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import type { Clock } from './clock.ts';
import { keepOpen, type Retrying } from './keep-open.ts';
import type { Report, Subscription } from './message-bus.ts';
import { closing, type RabbitLink } from './rabbit-link.ts';
import { deadQueueOf, declareQueue } from './rabbit-topology.ts';
import { prefetchDefault, RunningDeliveries } from './running-deliveries.ts';

/** One subscription with its own channel, so that a broken channel affects no other subscription. */
export class RabbitConsumer {
  readonly queue: string;
  readonly subscribed: Promise<void>;
  readonly #subscription: Subscription;
  readonly #exchange: string;
  readonly #clock: Clock;
  readonly #handlers: RunningDeliveries;
  readonly #answering = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #live: { channel: Channel; consumerTag: string } | undefined;
  #opened: () => void = () => undefined;

  constructor(
    subscription: Subscription,
    { link, exchange, report, ...retrying }: Retrying & { link: RabbitLink; exchange: string; report: Report },
  ) {
    this.queue = subscription.queue;
    this.subscribed = new Promise((resolve) => (this.#opened = resolve));
    this.#subscription = subscription;
    this.#exchange = exchange;
    this.#clock = retrying.clock;
    this.#handlers = new RunningDeliveries(subscription, { ...retrying, report });
    link.attach((connection, lost) => {
      const onLost = (reason: string) => report({ name: 'subscription-lost', fields: { queue: this.queue, reason } });
      const signal = AbortSignal.any([lost, this.#closing.signal]);
      void keepOpen({ ...retrying, signal, open: () => this.#open(connection), onLost });
    });
  }

  get live(): boolean {
    return this.#live !== undefined;
  }

  get handling(): number {
    return this.#handlers.size;
  }

  async countDeadLetters(): Promise<number> {
    if (this.#live === undefined) throw new Error('RabbitMQ is not connected.');
    return (await this.#live.channel.checkQueue(deadQueueOf(this.queue))).messageCount;
  }

  /** Unacknowledged messages return to the queue when the connection closes. */
  async close(graceMs: number): Promise<void> {
    this.#closing.abort();
    await this.#live?.channel.cancel(this.#live.consumerTag).catch(() => undefined);
    this.#handlers.abort();
    await this.#handlers.drain(graceMs);
    if (this.#handlers.size === 0) await Promise.all(this.#answering);
    await this.#live?.channel.close().catch(() => undefined);
    this.#opened();
  }

  async #open(connection: ChannelModel): Promise<{ closed: Promise<string> }> {
    const channel = await connection.createChannel();
    const closed = closing(channel).finally(() => {
      this.#live = undefined;
      // The broker has requeued the messages of the running handlers, so results of these handlers are too late.
      this.#handlers.abort();
    });
    const { queue, events, prefetch = prefetchDefault } = this.#subscription;
    await declareQueue(channel, { exchange: this.#exchange, queue, bindings: events.map(({ type }) => type) });
    await channel.prefetch(prefetch);
    const { consumerTag } = await channel.consume(queue, (message) => this.#onMessage(channel, message));
    this.#live = { channel, consumerTag };
    this.#opened();
    return { closed };
  }

  #onMessage(channel: Channel, message: ConsumeMessage | null): void {
    // The broker cancelled the consumer (queue deleted, leader moved). Closing the channel starts a new consumer.
    if (message === null) return void channel.close().catch(() => undefined);
    const answering = this.#answer(channel, message)
      // The channel broke during the acknowledgement, so the broker delivers the message again.
      .catch(() => undefined)
      .finally(() => this.#answering.delete(answering));
    this.#answering.add(answering);
  }

  async #answer(channel: Channel, message: ConsumeMessage): Promise<void> {
    const disposition = await this.#handlers.handle({
      body: message.content.toString('utf8'),
      // A quorum queue counts how often it got a message back, also from a lost connection.
      number: Number(message.properties.headers?.['x-delivery-count'] ?? 0) + 1,
      id: String(message.properties.messageId),
    });
    // A retry waits here, because RabbitMQ has no delayed return. It uses one place of the prefetch during the wait.
    if (disposition.kind === 'retry') await this.#clock.sleep(disposition.delayMs, this.#closing.signal);
    if (this.#live?.channel !== channel) return;
    switch (disposition.kind) {
      case 'ack':
        return channel.ack(message);
      case 'retry':
        return channel.nack(message, false, true);
      case 'dead':
        return channel.nack(message, false, false);
      default:
        return disposition satisfies never;
    }
  }
}
