import { openDatabase, type Database } from '@countersign/database';
import {
  createInProcessBus,
  createRabbitBus,
  eventFactory,
  OutboxRelay,
  type MessageBus,
  type NewEvent,
  type Report,
} from '@countersign/messaging';
import { createLogger, createRateLimiter, type Log, type RateLimiter } from '@countersign/service-kit';
import { inTransaction } from '@countersign/database';
import type pg from 'pg';
import type { GatewayConfig } from './config.ts';
import { createKernel, type Kernel } from './governance/kernel.ts';
import { createSmtpMailer, type Mailer } from './identity/mailer.ts';

/** Everything that the gateway works with. Made once, closed in reverse. */
export type Context = {
  readonly config: GatewayConfig;
  readonly log: Log;
  readonly database: Database;
  readonly bus: MessageBus;
  readonly relay: OutboxRelay;
  readonly newEvent: NewEvent;
  /** Null: no kernel is configured, so no run can be executed. */
  readonly kernel: Kernel | null;
  /** Null: no mail provider. */
  readonly mailer: Mailer | null;
  readonly rateLimiter: RateLimiter | null;
  readonly fetchNow: typeof fetch;
  now(): Date;
  /** Runs `work` in one transaction and wakes the outbox relay when it has committed. */
  transaction<T>(work: (tx: pg.PoolClient) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

export type ContextOverrides = Partial<
  Pick<Context, 'log' | 'bus' | 'mailer' | 'rateLimiter' | 'now'> & {
    /** Stands between the gateway and the kernel, to play a network that fails. */
    fetch: typeof fetch;
  }
>;

export function createContext(config: GatewayConfig, overrides: ContextOverrides = {}): Context {
  const log = overrides.log ?? createLogger({ service: 'gateway', level: config.logLevel });
  const database = openDatabase({ url: config.databaseUrl, schema: 'gateway' });
  const report: Report = ({ name, fields }) => log.warn(`messaging.${name}`, fields);
  const bus = overrides.bus ?? createBus(config, report);
  const transaction = <T>(work: (tx: pg.PoolClient) => Promise<T>): Promise<T> => inTransaction(database.pool, work);
  const relay = new OutboxRelay({ bus, transaction, report });
  const mailer = overrides.mailer ?? (config.mail === null ? null : createSmtpMailer(config.mail));
  return {
    config,
    log,
    database,
    bus,
    relay,
    mailer,
    newEvent: eventFactory({ source: '/gateway' }),
    kernel: config.governance === null ? null : createKernel(config.governance, overrides.fetch),
    rateLimiter: overrides.rateLimiter === undefined ? createRateLimiter() : overrides.rateLimiter,
    fetchNow: overrides.fetch ?? fetch,
    now: overrides.now ?? (() => new Date()),
    transaction: async (work) => {
      const result = await transaction(work);
      relay.poke();
      return result;
    },
    close: async () => {
      await relay.stop();
      // A bus that was handed in is shared with other services of the process.
      if (overrides.bus === undefined) await bus.close();
      mailer?.close();
      await database.close();
    },
  };
}

function createBus(config: GatewayConfig, report: Report): MessageBus {
  if (config.amqpUrl === null) return createInProcessBus({ report });
  return createRabbitBus({ url: config.amqpUrl, exchange: config.exchange, name: 'countersign gateway', report });
}
