import { createInProcessBus } from './in-process-bus.ts';
import type { MessageBus, Report } from './message-bus.ts';
import { createRabbitBus } from './rabbit-bus.ts';

type BusOptions = {
  /** Null: no broker, and the in-process bus carries the same outbox. */
  amqpUrl: string | null;
  exchange: string;
  /** Shown in the broker's list of connections. */
  name: string;
  report: Report;
};

/** The bus that the configuration of a service asks for. */
export function openBus({ amqpUrl, exchange, name, report }: BusOptions): MessageBus {
  if (amqpUrl === null) return createInProcessBus({ report });
  return createRabbitBus({ url: amqpUrl, exchange, name, report });
}

/** Faults that messaging survives, as warnings of a service's log. */
export function reportTo(log: { warn(event: string, fields: Record<string, string | number>): void }): Report {
  return ({ name, fields }) => log.warn(`messaging.${name}`, fields);
}

/** A health check: rejects while nothing can be published. */
export async function assertConnected(bus: MessageBus): Promise<void> {
  if (!bus.status().connected) throw new Error('The queue is not connected');
}

type Gauges = { gauge(instrument: { name: string; help: string }, read: () => Promise<number>): void };

/** Publishes the number of messages of a service that no handler took. */
export function gaugeDeadLetters(meter: Gauges, bus: MessageBus): void {
  const help = 'Dead letters of the queues that this process consumes; make redrive tells which.';
  meter.gauge({ name: 'countersign_dead_letters', help }, () => bus.countDeadLetters());
}

/** A health check: rejects while there are dead letters, and while their number is unknown. */
export async function assertNoDeadLetters(bus: MessageBus): Promise<'none'> {
  if ((await bus.countDeadLetters()) > 0) throw new Error('There are dead letters: see make redrive');
  return 'none';
}
