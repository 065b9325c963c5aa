import type { ChannelModel, ConfirmChannel } from 'amqplib';
import type { Clock } from './clock.ts';
import { keepOpen, type Retrying } from './keep-open.ts';
import type { Message, Report } from './message-bus.ts';
import { inTime, publishConfirmed } from './rabbit-confirm.ts';
import { turnDeadLetters } from './rabbit-dead-letters.ts';
import { closing, type RabbitLink } from './rabbit-link.ts';
import { declareExchanges } from './rabbit-topology.ts';

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

  /** Publishes all messages at once. The caller limits the batch, so the back-pressure of the channel is not needed. */
  async publish(batch: readonly Message[]): Promise<{ unroutable: string[] }> {
    if (this.#channel === undefined) throw new Error('RabbitMQ is not connected.');
    const publications = batch.map((message) => ({ ...message, exchange: this.#exchange, routingKey: message.type }));
    return { unroutable: await publishConfirmed(this.#channel, publications, this.#clock) };
  }

  async redrive(queue: string): Promise<number> {
    const connection = await inTime(this.#clock, this.#link.connected());
    return turnDeadLetters(connection, { queue, clock: this.#clock, goesBack: () => true });
  }

  async #open(connection: ChannelModel): Promise<{ closed: Promise<string> }> {
    const channel = await connection.createConfirmChannel();
    const closed = closing(channel).finally(() => (this.#channel = undefined));
    await declareExchanges(channel, this.#exchange);
    this.#channel = channel;
    return { closed };
  }
}
