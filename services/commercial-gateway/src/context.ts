import { Resolver } from 'node:dns/promises';
import {
  AppError,
  createClient,
  type Client,
  type AnyRoute,
  type CommercialPersonClaims,
  type KeyClaims,
} from '@countersign/contracts';
import {
  getOrgUse,
  getSsoReadiness,
  listOrgs,
  listOrgWorkspaces,
  readScopedAuditChain,
} from '@countersign/contracts/control-plane';
import { findSoleOwner, getLane, putLane, readAuditChain } from '@countersign/contracts/gateway';
import {
  listLedgerEntries,
  listMeteredReceipts,
  getTrustList,
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
import { createConfiguredKeyRing, type KeyRing } from '@countersign/verifier';
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

const directoryRoutes = { getOrgUse, getSsoReadiness, listOrgs, listOrgWorkspaces, readScopedAuditChain };
const accountRoutes = { findSoleOwner };
const auditRoutes = { readAuditChain };
const laneRoutes = { getLane, putLane };
const kernelRoutes = {
  getTrustList,
  listLedgerEntries,
  listMeteredReceipts,
  listTrustKeys,
  putCeiling,
  recordBudgetUsage,
};

/** All dependencies of the commercial gateway. They are built once and closed in reverse order. */
export type Context = {
  readonly config: CommercialConfig;
  readonly log: Log;
  readonly telemetry: Telemetry;
  readonly database: CommercialDatabase;
  readonly bus: MessageBus;
  readonly relay: OutboxRelay;
  readonly newEvent: NewEvent;
  /** Verifies the gateway's assertions about people. */
  readonly assertions: AssertionVerifier<CommercialPersonClaims>;
  /** Verifies the gateway's assertions about API keys. */
  readonly keyAssertions: AssertionVerifier<KeyClaims>;
  /** Returns a client of gateway routes that acts as the caller of this delegation. */
  asCaller<const Routes extends Record<string, AnyRoute>>(delegation: string, routes: Routes): Client<Routes>;
  /** The directory of organisations at the control plane. */
  readonly directory: Client<typeof directoryRoutes>;
  /** The accounts of people at the gateway. */
  readonly accounts: Client<typeof accountRoutes>;
  /** The audit chains of workspaces at the gateway. */
  readonly gatewayAudit: Client<typeof auditRoutes>;
  /** The lanes of workspaces at the gateway. A lane states whether queued runs are leased. */
  readonly lanes: Client<typeof laneRoutes>;
  /** The routes of the governance kernel for receipts, keys, plan limits and spend. */
  readonly kernel: Client<typeof kernelRoutes>;
  /** The keys that receipts are verified with. */
  readonly keyRing: KeyRing;
  /** Returns the TXT records of a DNS name. Rejects when it has none, or when DNS does not answer. */
  readonly resolveTxt: (name: string) => Promise<string[][]>;
  now(): Date;
  /** The clock of PostgreSQL. A test that replaces `now` also replaces this clock. */
  readonly databaseNow: DatabaseClock;
  /** Compares the clock of this machine with the database clock. */
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
    /** The clock of this machine, for `clockGuard`. A test that replaces `now` does not replace this clock. */
    machineClock(): Date;
  }
>;

const siblingTimeoutMs = 20_000;
/** This timeout is short because an identity provider waits, and access must end within five seconds. */
const accountTimeoutMs = 1_500;
/** Timeout of one DNS query. A request waits for at most two queries. */
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

type Siblings = Pick<Context, 'asCaller' | 'directory' | 'accounts' | 'gatewayAudit' | 'lanes' | 'kernel' | 'keyRing'>;

/** Clients of the other services, as this service itself and as its caller. */
function siblingsOf(config: CommercialConfig): Siblings {
  const { controlPlaneUrl, gatewayUrl, governanceUrl, serviceApiKey } = config;
  const headers = () => ({ authorization: `Bearer ${serviceApiKey}` });
  const timeoutMs = siblingTimeoutMs;
  const kernel = createClient(kernelRoutes, { baseUrl: governanceUrl, timeoutMs, headers });
  const tellKeys = async () => (await kernel.listTrustKeys()).body;
  const tellList = async () => (await kernel.getTrustList()).body;
  const trust = { root: config.trustRoot, configured: config.trustedPublicKeys };
  return {
    asCaller: (delegation, routes) =>
      createClient(routes, {
        ...{ baseUrl: gatewayUrl, timeoutMs },
        headers: () => ({ authorization: `Bearer ${delegation}` }),
      }),
    directory: createClient(directoryRoutes, { baseUrl: controlPlaneUrl, timeoutMs, headers }),
    accounts: createClient(accountRoutes, { baseUrl: gatewayUrl, timeoutMs: accountTimeoutMs, headers }),
    gatewayAudit: createClient(auditRoutes, { baseUrl: gatewayUrl, timeoutMs, headers }),
    lanes: createClient(laneRoutes, { baseUrl: gatewayUrl, timeoutMs, headers }),
    kernel,
    keyRing: createConfiguredKeyRing(trust, { tellKeys, tellList }, nodeProvider),
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
