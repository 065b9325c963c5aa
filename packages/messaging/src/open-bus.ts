import { createInProcessBus } from './in-process-bus.ts';
import type { MessageBus, Report } from './message-bus.ts';
import { createRabbitBus } from './rabbit-bus.ts';

type BusOptions = {
  /** `null` when there is no broker. The in-process bus then delivers the events of the outbox. */
  amqpUrl: string | null;
  exchange: string;
  /** Shown in the broker's list of connections. */
  name: string;
  report: Report;
};

/** Opens the bus that the configuration of the service selects. */
export function openBus({ amqpUrl, exchange, name, report }: BusOptions): MessageBus {
  if (amqpUrl === null) return createInProcessBus({ report });
  return createRabbitBus({ url: amqpUrl, exchange, name, report });
}

/** Logs each fault that messaging reports, as a warning. */
export function reportTo(log: { warn(event: string, fields: Record<string, string | number>): void }): Report {
  return ({ name, fields }) => log.warn(`messaging.${name}`, fields);
}

/** A health check. It rejects when no message can be published. */
export async function assertConnected(bus: MessageBus): Promise<void> {
  if (!bus.status().connected) throw new Error('The queue is not connected');
}

type Gauges = { gauge(instrument: { name: string; help: string }, read: () => Promise<number>): void };

/** Publishes the number of dead letters of a service as a metric. */
export function gaugeDeadLetters(meter: Gauges, bus: MessageBus): void {
  const help = 'Dead letters of the queues that this process consumes; make redrive lists them.';
  meter.gauge({ name: 'countersign_dead_letters', help }, () => bus.countDeadLetters());
}

/** A health check that rejects while there are dead letters, or while their number is unknown. */
export async function assertNoDeadLetters(bus: MessageBus): Promise<'none'> {
  if ((await bus.countDeadLetters()) > 0) throw new Error('There are dead letters. List them with make redrive');
  return 'none';
}
