import { Resolver } from 'node:dns/promises';
import {
  AppError,
  createClient,
  type Client,
  type AnyRoute,
  type CommercialPersonClaims,
  type KeyClaims,
} from '@countersign/contracts';
import { listOrgs, listOrgWorkspaces } from '@countersign/contracts/control-plane';
import { findSoleOwner, getLane, putLane } from '@countersign/contracts/gateway';
import {
  listLedgerEntries,
  listTrustKeys,
  putCeiling,
  recordBudgetUsage,
} from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { databaseClock, type DatabaseClock } from '@countersign/database';
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
import {
  AssertionVerifier,
  ClockGuard,
  createLogger,
  messageSpans,
  type Log,
  type Telemetry,
} from '@countersign/service-kit';
import { createKeyRing, type KeyRing } from '@countersign/verifier';
import type { CommercialConfig } from './config.ts';
import type { EntitlementTerms } from './entitlements/entitlement-terms.ts';
import { createManualProvider } from './payments/manual-provider.ts';
import type { PaymentProviders } from './payments/payment-provider.ts';
import { createStripeClient } from './payments/stripe-client.ts';
import { createStripeProvider } from './payments/stripe-provider.ts';
import {
  openCommercialDatabase,
  snapshotOf,
  type CommercialDatabase,
  type Snapshot,
  type Transaction,
} from './store/database.ts';

const directoryRoutes = { listOrgs, listOrgWorkspaces };
const accountRoutes = { findSoleOwner };
const laneRoutes = { getLane, putLane };
const kernelRoutes = { listLedgerEntries, listTrustKeys, putCeiling, recordBudgetUsage };

/** Every collaborator of the commercial gateway. Built once, closed in reverse. */
export type Context = {
  readonly config: CommercialConfig;
  readonly log: Log;
  readonly telemetry: Telemetry;
  readonly database: CommercialDatabase;
  readonly bus: MessageBus;
  readonly relay: OutboxRelay;
  readonly newEvent: NewEvent;
  /** Verifies which person the gateway forwards. */
  readonly assertions: AssertionVerifier<CommercialPersonClaims>;
  /** Verifies which API key the gateway forwards. */
  readonly keyAssertions: AssertionVerifier<KeyClaims>;
  /** Routes that the gateway serves, called as the caller of this delegation. */
  asCaller<const Routes extends Record<string, AnyRoute>>(delegation: string, routes: Routes): Client<Routes>;
  /** The directory of organisations at the control plane. */
  readonly directory: Client<typeof directoryRoutes>;
  /** The people of the gateway. */
  readonly accounts: Client<typeof accountRoutes>;
  /** The lanes of workspaces at the gateway: whether their queued runs are leased. */
  readonly lanes: Client<typeof laneRoutes>;
  /** The receipts of the governance kernel. */
  readonly kernel: Client<typeof kernelRoutes>;
  /** The keys that receipts are verified with. */
  readonly keyRing: KeyRing;
  /** The TXT records of a name in DNS. Rejects when there are none. */
  readonly resolveTxt: (name: string) => Promise<string[][]>;
  now(): Date;
  /** The clock of PostgreSQL. A test that moves `now` moves it by the same amount. */
  readonly databaseNow: DatabaseClock;
  /** Compares the clock of this machine with the database's. */
  readonly clockGuard: ClockGuard;
  /** Runs `work` in one transaction, and wakes the outbox relay after the commit. */
  readonly transaction: Transaction;
  readonly snapshot: Snapshot;
  readonly entitlementTerms: EntitlementTerms;
  readonly payments: PaymentProviders;
  close(): Promise<void>;
};

export type ContextOverrides = Partial<
  Pick<Context, 'log' | 'bus' | 'now' | 'resolveTxt'> & {
    /** The clock that the guard compares. A test that moves `now` leaves it unchanged. */
    machineClock(): Date;
  }
>;

const siblingTimeoutMs = 20_000;
/** An identity provider waits, and the end of an access has to be effective within five seconds. */
const accountTimeoutMs = 1_500;
/** A request waits for DNS: twice this at most. */
const dnsTimeoutMs = 2_000;

export function createContext(
  config: CommercialConfig,
  telemetry: Telemetry,
  overrides: ContextOverrides = {},
): Context {
  const log = overrides.log ?? createLogger({ service: 'commercial-gateway', ...config.log });
  const database = openCommercialDatabase(config.databaseUrl);
  const report = reportTo(log);
  const spans = telemetry.tracer === null ? null : messageSpans(telemetry.tracer);
  const bus = overrides.bus ?? openBus({ ...config.bus, name: 'countersign commercial gateway', report });
  const relay = new OutboxRelay({ bus, transaction: messagingTransaction(database.transaction), report });
  const resolver = new Resolver({ timeout: dnsTimeoutMs, tries: 2 });
  const machineClock = overrides.machineClock ?? (() => new Date());
  const now = overrides.now ?? machineClock;
  const refusal = (distance: string) =>
    new AppError('STORE_UNAVAILABLE', `The clock of this commercial gateway is ${distance}; set its clock`);
  return {
    config,
    log,
    telemetry,
    database,
    bus,
    relay,
    newEvent: eventFactory({ source: '/commercial-gateway', traceparent: spans?.send }),
    assertions: AssertionVerifier.ofCommercialCallers(config.assertionKeys, now),
    keyAssertions: AssertionVerifier.ofKeys('commercial-gateway', config.assertionKeys, now),
    ...siblingsOf(config),
    resolveTxt: overrides.resolveTxt ?? ((name) => resolver.resolveTxt(name)),
    now,
    databaseNow: databaseClock(now === machineClock ? undefined : now),
    clockGuard: new ClockGuard({ machineClock, readDatabaseMs: database.nowMs, refusal, log }),
    transaction: wakingTransaction(database.transaction, relay),
    snapshot: snapshotOf(database),
    entitlementTerms: config.entitlementTerms,
    payments: paymentProvidersOf(config.billing),
    close: async () => {
      await relay.stop();
      // A bus that was passed in is shared with other services of the process.
      if (overrides.bus === undefined) await bus.close();
      await database.close();
      await telemetry.close();
    },
  };
}

type Siblings = Pick<Context, 'asCaller' | 'directory' | 'accounts' | 'lanes' | 'kernel' | 'keyRing'>;

/** Clients of the other services, as this service itself and as its caller. */
function siblingsOf(config: CommercialConfig): Siblings {
  const { controlPlaneUrl, gatewayUrl, governanceUrl, serviceApiKey } = config;
  const headers = () => ({ authorization: `Bearer ${serviceApiKey}` });
  const timeoutMs = siblingTimeoutMs;
  const kernel = createClient(kernelRoutes, { baseUrl: governanceUrl, timeoutMs, headers });
  const tell = async () => (await kernel.listTrustKeys()).body;
  return {
    asCaller: (delegation, routes) =>
      createClient(routes, {
        ...{ baseUrl: gatewayUrl, timeoutMs },
        headers: () => ({ authorization: `Bearer ${delegation}` }),
      }),
    directory: createClient(directoryRoutes, { baseUrl: controlPlaneUrl, timeoutMs, headers }),
    accounts: createClient(accountRoutes, { baseUrl: gatewayUrl, timeoutMs: accountTimeoutMs, headers }),
    lanes: createClient(laneRoutes, { baseUrl: gatewayUrl, timeoutMs, headers }),
    kernel,
    keyRing: createKeyRing({ configured: config.trustedPublicKeys, tell }, nodeProvider),
  };
}

function paymentProvidersOf({ manualSecret, stripe }: CommercialConfig['billing']): PaymentProviders {
  const manual = createManualProvider(manualSecret);
  if (stripe === null) return { charging: manual, byName: { manual } };
  const { secretKey, apiUrl, webhookSecret, returnUrl } = stripe;
  const client = createStripeClient({ secretKey, apiUrl });
  const charging = createStripeProvider({ client, webhookSecret, returnUrl });
  return { charging, byName: { manual, stripe: charging } };
}
