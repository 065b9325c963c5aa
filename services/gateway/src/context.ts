import {
  aroundDeliveries,
  eventFactory,
  openBus,
  OutboxRelay,
  reportTo,
  type MessageBus,
  type NewEvent,
} from '@countersign/messaging';
import { createAssertionSigner, createLogger, messageSpans, type Log, type Telemetry } from '@countersign/service-kit';
import type { GatewayConfig, GovernanceConfig } from './config.ts';
import { createKernel, type Kernel } from './governance/kernel.ts';
import { createSmtpMailer, type Mailer } from './identity/mailer.ts';
import { openGatewayDatabase, type GatewayDatabase, type Transaction } from './store/database.ts';
import { messagingTransaction } from './store/messages.ts';

/** Everything that the gateway works with. Made once, closed in reverse. */
export type Context = {
  readonly config: GatewayConfig;
  readonly log: Log;
  readonly telemetry: Telemetry;
  readonly database: GatewayDatabase;
  readonly bus: MessageBus;
  readonly relay: OutboxRelay;
  readonly newEvent: NewEvent;
  /** Null: no kernel is configured, so no run can be executed. */
  readonly kernel: Kernel | null;
  /** Null: no mail provider. */
  readonly mailer: Mailer | null;
  readonly fetchNow: typeof fetch;
  now(): Date;
  /** Runs `work` in one transaction and wakes the outbox relay when it has committed. */
  readonly transaction: Transaction;
  close(): Promise<void>;
};

export type ContextOverrides = Partial<
  Pick<Context, 'log' | 'bus' | 'mailer' | 'now'> & {
    /** Stands between the gateway and the kernel, to play a network that fails. */
    fetch: typeof fetch;
  }
>;

export function createContext(config: GatewayConfig, telemetry: Telemetry, overrides: ContextOverrides = {}): Context {
  const log = overrides.log ?? createLogger({ service: 'gateway', ...config.log });
  const database = openGatewayDatabase(config.databaseUrl);
  const report = reportTo(log);
  const spans = telemetry.tracer === null ? null : messageSpans(telemetry.tracer);
  const opened = overrides.bus ?? openBus({ ...config.bus, name: 'countersign gateway', report });
  const bus = spans === null ? opened : aroundDeliveries(opened, spans.around);
  const relay = new OutboxRelay({ bus, transaction: messagingTransaction(database.transaction), report });
  const now = overrides.now ?? (() => new Date());
  const mailer = overrides.mailer ?? (config.mail === null ? null : createSmtpMailer(config.mail));
  return {
    config,
    log,
    telemetry,
    database,
    bus,
    relay,
    mailer,
    newEvent: eventFactory({ source: '/gateway', traceparent: spans?.send }),
    kernel:
      config.governance === null ? null : kernelOf(config.governance, { log, now, telemetry, fetch: overrides.fetch }),
    fetchNow: overrides.fetch ?? fetch,
    now,
    transaction: async (work) => {
      const result = await database.transaction(work);
      relay.poke();
      return result;
    },
    close: async () => {
      await relay.stop();
      // A bus that was handed in is shared with other services of the process.
      if (overrides.bus === undefined) await bus.close();
      mailer?.close();
      await database.close();
      await telemetry.close();
    },
  };
}

type Ways = Pick<Context, 'log' | 'now' | 'telemetry'> & { fetch: typeof fetch | undefined };

function kernelOf(governance: GovernanceConfig, { log, now, telemetry, fetch }: Ways): Kernel {
  const signer = createAssertionSigner(governance.assertionKey, now);
  // Whoever sets up the kernel looks for this name among those that it says it has pinned.
  log.info('assertions.signed_by', { key_id: signer.keyId });
  return createKernel(governance, { signer, fetch, traceparent: () => telemetry.tracer?.traceparent() ?? null });
}
