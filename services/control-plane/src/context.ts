import { createClient, type Client } from '@countersign/contracts';
import { proveAddress, sendSignInCode } from '@countersign/contracts/gateway';
import {
  eventFactory,
  messagingTransaction,
  openBus,
  OutboxRelay,
  reportTo,
  wakingTransaction,
  type MessageBus,
  type NewEvent,
} from '@countersign/messaging';
import { AssertionVerifier, createLogger, messageSpans, type Log, type Telemetry } from '@countersign/service-kit';
import type { PersonClaims } from '@countersign/contracts';
import type { ControlPlaneConfig } from './config.ts';
import { openControlPlaneDatabase, type ControlPlaneDatabase, type Transaction } from './store/database.ts';

/** What the gateway is asked for: it sends the codes and knows the people. */
const directoryRoutes = { sendSignInCode, proveAddress };

/** Everything that the control plane works with. Made once, closed in reverse. */
export type Context = {
  readonly config: ControlPlaneConfig;
  readonly log: Log;
  readonly telemetry: Telemetry;
  readonly database: ControlPlaneDatabase;
  readonly bus: MessageBus;
  readonly relay: OutboxRelay;
  readonly newEvent: NewEvent;
  readonly directory: Client<typeof directoryRoutes>;
  readonly assertions: AssertionVerifier<PersonClaims>;
  readonly fetchNow: typeof fetch;
  now(): Date;
  /** Runs `work` in one transaction and wakes the outbox relay when it has committed. */
  readonly transaction: Transaction;
  close(): Promise<void>;
};

export type ContextOverrides = Partial<Pick<Context, 'log' | 'bus' | 'now'>>;

/** Longer than a mail server takes to accept a mail, shorter than a person waits. */
const directoryTimeoutMs = 15_000;

export function createContext(
  config: ControlPlaneConfig,
  telemetry: Telemetry,
  overrides: ContextOverrides = {},
): Context {
  const log = overrides.log ?? createLogger({ service: 'control-plane', ...config.log });
  const database = openControlPlaneDatabase(config.databaseUrl);
  const report = reportTo(log);
  const spans = telemetry.tracer === null ? null : messageSpans(telemetry.tracer);
  const bus = overrides.bus ?? openBus({ ...config.bus, name: 'countersign control plane', report });
  const relay = new OutboxRelay({ bus, transaction: messagingTransaction(database.transaction), report });
  const now = overrides.now ?? (() => new Date());
  return {
    config,
    log,
    telemetry,
    database,
    bus,
    relay,
    newEvent: eventFactory({ source: '/control-plane', traceparent: spans?.send }),
    directory: createClient(directoryRoutes, {
      baseUrl: config.gatewayUrl,
      timeoutMs: directoryTimeoutMs,
      headers: () => ({ authorization: `Bearer ${config.serviceApiKey}` }),
    }),
    assertions: AssertionVerifier.ofPeople(config.assertionKeys, now),
    fetchNow: fetch,
    now,
    transaction: wakingTransaction(database.transaction, relay),
    close: async () => {
      await relay.stop();
      // A bus that was handed in is shared with other services of the process.
      if (overrides.bus === undefined) await bus.close();
      await database.close();
      await telemetry.close();
    },
  };
}
