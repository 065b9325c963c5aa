import { Agent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import {
  aroundDeliveries,
  eventFactory,
  messagingTransaction,
  gaugeDeadLetters,
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
  createAssertionSigner,
  createLogger,
  messageSpans,
  SessionWatch,
  type AssertionSigner,
  type Log,
  type Telemetry,
} from '@countersign/service-kit';
import { databaseClock, type DatabaseClock } from '@countersign/database';
import { LogWatch } from './audit/log-watch.ts';
import type { GatewayConfig, GovernanceConfig } from './config.ts';
import { AppError, createClient, type Client, type DelegationClaims, type KeyClaims } from '@countersign/contracts';
import { introspectSession, listLiveSessions } from '@countersign/contracts/control-plane';
import { createKnownCredentials, type KnownCredentials } from './forwarding/known-credentials.ts';
import { createKernel, type Kernel } from './governance/kernel.ts';
import { createSmtpMailer, type Mailer } from './identity/mailer.ts';
import { attributed, type UnjudgedReport } from './reports/attribute.ts';
import { ReportWriter } from './reports/report-writer.ts';
import { listAuditEnds } from './store/audit.ts';
import { insertReports, type NewReport } from './store/reports.ts';
import { openGatewayDatabase, type GatewayDatabase, type Transaction } from './store/database.ts';

const consoleRoutes = { introspectSession, listLiveSessions };

/** The collaborators of the gateway. They are created once. Each one is closed before those that it uses. */
export type Context = {
  readonly config: GatewayConfig;
  readonly log: Log;
  readonly telemetry: Telemetry;
  readonly database: GatewayDatabase;
  readonly bus: MessageBus;
  readonly relay: OutboxRelay;
  /** Notifies followers of new entries in the log of a workspace. */
  readonly logWatch: LogWatch;
  /** Stores reports of failed calls for their callers. */
  readonly reports: ReportWriter<NewReport>;
  /**
   * Stores reports of calls that were refused before the caller was identified. They have a queue of their own, so
   * they cannot displace other reports.
   */
  readonly unjudgedReports: ReportWriter<UnjudgedReport>;
  readonly newEvent: NewEvent;
  /** `null` when no kernel is configured. Runs cannot be executed then. */
  readonly kernel: Kernel | null;
  /** Signs the assertions of the gateway. `null` when no sibling is configured. */
  readonly assertions: AssertionSigner | null;
  /** Verifies the delegations that this gateway issued to other services for the requests of people. */
  readonly delegations: AssertionVerifier<DelegationClaims>;
  /** Verifies the delegations that this gateway issued to other services for the requests of API keys. */
  readonly keyDelegations: AssertionVerifier<KeyClaims>;
  /** Connections to the kernel for forwarded calls. */
  readonly kernelPool: Agent;
  readonly controlPlanePool: Agent;
  readonly commercialPool: Agent;
  /** Reads the sessions that the control plane manages. `null` without a control plane. */
  readonly consoleSessions: Client<typeof consoleRoutes> | null;
  /** Closes open streams when their session ends. `null` without a control plane. */
  readonly sessionWatch: SessionWatch | null;
  readonly knownCredentials: KnownCredentials;
  /** For each workspace, the version of the list of members that the kernel has confirmed to this process. */
  readonly deliveredMembers: Map<string, number>;
  /** `null` when no mail provider is configured. */
  readonly mailer: Mailer | null;
  readonly fetchNow: typeof fetch;
  now(): Date;
  /** The clock of PostgreSQL, which decides when rows expire. A test that moves `now` also moves it. */
  readonly databaseNow: DatabaseClock;
  /** Compares the clock of this machine with that of the database. */
  readonly clockGuard: ClockGuard;
  /** Runs `work` in one transaction and wakes the outbox relay when it has committed with events to publish. */
  readonly transaction: Transaction;
  close(): Promise<void>;
};

export type ContextOverrides = Partial<
  Pick<Context, 'log' | 'bus' | 'mailer' | 'now'> & {
    /** Replaces `fetch` between gateway and kernel. Tests use it to simulate a failing network. */
    fetch: typeof fetch;
    /** The clock that the guard compares. A test that moves `now` does not move it. */
    machineClock(): Date;
  }
>;

export function createContext(config: GatewayConfig, telemetry: Telemetry, overrides: ContextOverrides = {}): Context {
  const log = overrides.log ?? createLogger({ service: 'gateway', ...config.log });
  const database = openGatewayDatabase(config.databaseUrl);
  const report = reportTo(log);
  const spans = telemetry.tracer === null ? null : messageSpans(telemetry.tracer);
  const opened = overrides.bus ?? openBus({ ...config.bus, name: 'countersign gateway', report });
  const bus = spans === null ? opened : aroundDeliveries(opened, spans.around);
  gaugeDeadLetters(telemetry.meter, bus);
  const relay = new OutboxRelay({ bus, transaction: messagingTransaction(database.transaction), report });
  const machineClock = overrides.machineClock ?? (() => new Date());
  const now = overrides.now ?? machineClock;
  const { governance, controlPlane } = config;
  const assertions = assertionSigner(config, { log, now });
  const pools = openPools(config);
  const logWatch = watchLogs(database, log);
  const consoleSessions = consoleSessionsAt(controlPlane);
  const sessionWatch = consoleSessions === null ? null : watchSessions(consoleSessions, log);
  const { reports, unjudgedReports } = reportWriters(database, { log, telemetry });
  const mailer = overrides.mailer ?? (config.mail === null ? null : createSmtpMailer(config.mail));
  return {
    config,
    log,
    telemetry,
    database,
    bus,
    relay,
    logWatch,
    reports,
    unjudgedReports,
    mailer,
    newEvent: eventFactory({ source: '/gateway', traceparent: spans?.send }),
    kernel:
      governance && assertions
        ? kernelOf(governance, { signer: assertions, now, telemetry, fetch: overrides.fetch })
        : null,
    assertions,
    ...verifiersOf(assertions, now),
    ...pools,
    consoleSessions,
    sessionWatch,
    ...{ knownCredentials: createKnownCredentials(config), deliveredMembers: new Map<string, number>() },
    fetchNow: overrides.fetch ?? fetch,
    now,
    ...clocksOf(database, { now, machineClock, log }),
    transaction: wakingTransaction(database.transaction, relay),
    close: async () => {
      await sessionWatch?.stop();
      await logWatch.close();
      await Promise.all([reports.stop(), unjudgedReports.stop()]);
      await relay.stop();
      for (const pool of Object.values(pools)) pool.destroy();
      // A bus from outside is shared with other services of the process, so it stays open.
      if (overrides.bus === undefined) await bus.close();
      mailer?.close();
      await database.close();
      await telemetry.close();
    },
  };
}

type Clocked = Pick<Context, 'now' | 'log'> & { machineClock: () => Date };

function clocksOf(
  { nowMs }: GatewayDatabase,
  { now, machineClock, log }: Clocked,
): Pick<Context, 'databaseNow' | 'clockGuard'> {
  const refusal = (distance: string) =>
    new AppError('STORE_UNAVAILABLE', `The clock of this gateway is ${distance}, so no run begins; set its clock`);
  return {
    databaseNow: databaseClock(now === machineClock ? undefined : now),
    clockGuard: new ClockGuard({ machineClock, readDatabaseMs: nowMs, refusal, log }),
  };
}

function watchLogs({ reader }: GatewayDatabase, log: Log): LogWatch {
  return new LogWatch({
    readEnds: (workspaceIds) => listAuditEnds(reader, workspaceIds),
    onFailure: (error) => log.warn('log_watch.failed', { error }),
  });
}

function watchSessions(sessions: NonNullable<Context['consoleSessions']>, log: Log): SessionWatch {
  return new SessionWatch({
    readLive: async (session_ids) => {
      const { body } = await sessions.listLiveSessions({ body: { session_ids: [...session_ids] } });
      return new Set(body.live);
    },
    onFailure: (error) => log.warn('session_watch.failed', { error }),
  });
}

/** Any caller may request unknown routes with an invalid credential, so only few of these reports are queued. */
const waitingMax = { known: 500, unjudged: 50 };

function reportWriters(
  { transaction }: GatewayDatabase,
  { log, telemetry: { meter } }: Pick<Context, 'log' | 'telemetry'>,
): Pick<Context, 'reports' | 'unjudgedReports'> {
  const help = 'Failed calls whose reports were not kept; the log has them.';
  const count = meter.counter({ name: 'countersign_reports_dropped', help });
  const onDropped = (why: string, dropped: number, error?: unknown) => {
    count({ why }, dropped);
    if (why === 'not_written') log.warn('reports.not_written', { dropped, error });
  };
  const write = async (batch: readonly NewReport[]) => {
    if (batch.length > 0) await transaction((tx) => insertReports(tx, batch));
  };
  return {
    reports: new ReportWriter({ write, onDropped, waitingMax: waitingMax.known }),
    unjudgedReports: new ReportWriter({
      write: async (batch: readonly UnjudgedReport[]) => write(await attributed(batch)),
      ...{ onDropped, waitingMax: waitingMax.unjudged },
    }),
  };
}

function assertionSigner(
  { governance, controlPlane, commercial }: GatewayConfig,
  { log, now }: Pick<Context, 'log' | 'now'>,
): AssertionSigner | null {
  const sibling = governance ?? controlPlane ?? commercial;
  if (sibling === null) return null;
  const signer = createAssertionSigner(sibling.assertionKey, now);
  // Logged, since the operator of the kernel needs this key id to pin the key.
  log.info('assertions.signed_by', { key_id: signer.keyId });
  return signer;
}

/** A delegation is valid only when this gateway signed it. */
function verifiersOf(
  assertions: AssertionSigner | null,
  now: () => Date,
): Pick<Context, 'delegations' | 'keyDelegations'> {
  const keys = assertions === null ? [] : [assertions];
  return {
    delegations: AssertionVerifier.ofDelegations(keys, now),
    keyDelegations: AssertionVerifier.ofKeys('gateway', keys, now),
  };
}

/** A person waits for a page while the control plane answers, so the limit is short. */
const introspectionTimeoutMs = 5_000;

function consoleSessionsAt(controlPlane: GatewayConfig['controlPlane']): Context['consoleSessions'] {
  if (controlPlane === null) return null;
  const { url: baseUrl, serviceApiKey } = controlPlane;
  const headers = () => ({ authorization: `Bearer ${serviceApiKey}` });
  return createClient(consoleRoutes, { baseUrl, headers, timeoutMs: introspectionTimeoutMs });
}

/** Connections to each service that requests are forwarded to. */
function openPools({
  governance,
  controlPlane,
  commercial,
}: GatewayConfig): Pick<Context, 'kernelPool' | 'controlPlanePool' | 'commercialPool'> {
  return {
    kernelPool: poolFor(governance?.url),
    controlPlanePool: poolFor(controlPlane?.url),
    commercialPool: poolFor(commercial?.url),
  };
}

function poolFor(url: string | undefined): Agent {
  return url?.startsWith('https:') === true ? new HttpsAgent({ keepAlive: true }) : new Agent({ keepAlive: true });
}

type Ways = Pick<Context, 'telemetry' | 'now'> & { signer: AssertionSigner; fetch: typeof fetch | undefined };

function kernelOf(governance: GovernanceConfig, { telemetry, ...ways }: Ways): Kernel {
  return createKernel(governance, { ...ways, traceparent: () => telemetry.tracer?.traceparent() ?? null });
}
