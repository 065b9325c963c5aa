import { createInProcessBus, createRabbitBus, type MessageBus, type Report } from '@countersign/messaging';

export type DriverName = 'rabbitmq' | 'in-process';

export const amqpUrl = process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';
export const databaseUrl = process.env['TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';

export type BusSettings = { driver: DriverName; exchange: string; amqpUrl: string; report?: Report };

export function createBus({ driver, exchange, amqpUrl: url, report }: BusSettings): MessageBus {
  const reporting = report === undefined ? {} : { report };
  if (driver === 'in-process') return createInProcessBus(reporting);
  return createRabbitBus({ url, exchange, name: 'messaging-test', backoff: { baseMs: 50, maxMs: 500 }, ...reporting });
}
