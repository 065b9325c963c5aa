import { createJudge, type Judge } from '@countersign/judge';
import { AppError, createClient, type Client } from '@countersign/contracts';
import { getTrustList, listTrustKeys } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { databaseClock, type DatabaseClock } from '@countersign/database';
import { authorizeSignIn, proveAddress, proveUser, sendSignInCode, sendUserCode } from '@countersign/contracts/gateway';
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
  SessionWatch,
  type Log,
  type Telemetry,
} from '@countersign/service-kit';
import { createConfiguredKeyRing, type KeyRing } from '@countersign/verifier';
import type { KeyClaims, PersonClaims } from '@countersign/contracts';
import { readSite, type Site } from './console/site.ts';
import { Turns } from './blast-radius/turns.ts';
import type { ControlPlaneConfig } from './config.ts';
import { limitCodeGuesses, type CodeGuesses } from './devices/code-guesses.ts';
import { configuredConnections, type OidcConnections } from './oidc/connections.ts';
import { createProviders, type OidcProviders } from './oidc/providers.ts';
import { SocketRoom } from './realtime/socket-room.ts';
import { countHints, listHintHeads, listHints } from './store/hints.ts';
import { listLiveAmong } from './store/sessions.ts';
import { countUnconfirmed } from './store/stops.ts';
import { createSibling, type Sibling } from './siblings/sibling.ts';
import { openControlPlaneDatabase, type ControlPlaneDatabase, type Transaction } from './store/database.ts';

/** The routes of the gateway that this service calls. The gateway sends codes and manages people. */
const directoryRoutes = { authorizeSignIn, sendSignInCode, proveAddress, sendUserCode, proveUser };

/** The collaborators of the control plane. They are created once. Each is closed before those that it uses. */
export type Context = {
  readonly config: ControlPlaneConfig;
  readonly log: Log;
  readonly telemetry: Telemetry;
  readonly database: ControlPlaneDatabase;
  readonly bus: MessageBus;
  readonly relay: OutboxRelay;
  readonly newEvent: NewEvent;
  readonly directory: Client<typeof directoryRoutes>;
  readonly gateway: Sibling;
  readonly kernel: Sibling;
  /** The trusted keys for receipts. */
  readonly keyRing: KeyRing;
  readonly assertions: AssertionVerifier<PersonClaims>;
  /** Verifies assertions of the gateway about API keys. */
  readonly keyAssertions: AssertionVerifier<KeyClaims>;
  readonly codeGuesses: CodeGuesses;
  /** The identity providers, and their client. */
  readonly connections: OidcConnections;
  readonly providers: OidcProviders;
  /** Notifies pages of changes. */
  readonly socketRoom: SocketRoom;
  /** Runs the tasks of a workspace that read the log for the reach of stops, one at a time. */
  readonly radiusTurns: Turns;
  /** The verifier of exports that anonymous visitors upload. */
  readonly judge: Judge;
  readonly fetchNow: typeof fetch;
  /** The files that browsers receive. */
  readonly site: Site;
  now(): Date;
  /**
   * The clock of PostgreSQL. It decides when stops end and which rows the sweeper removes. A test that replaces `now`
   * also replaces this clock.
   */
  readonly databaseNow: DatabaseClock;
  /** Compares the clock of this machine with that of the database. */
  readonly clockGuard: ClockGuard;
  /** Runs `work` in one transaction and wakes the outbox relay when it has committed. */
  readonly transaction: Transaction;
  close(): Promise<void>;
};

export type ContextOverrides = Partial<
  Pick<Context, 'log' | 'bus' | 'now'> & {
    /** The clock of this machine, for `clockGuard`. A test that replaces `now` does not replace this clock. */
    machineClock(): Date;
  }
>;

/** The longest time that a person waits for a page. */
const siblingTimeoutMs = 20_000;
/**
 * Timeout of calls to the gateway that may send a mail. A mail server accepts a mail faster, and a person waits longer.
 */
const directoryTimeoutMs = 15_000;
const minuteMs = 60_000;

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
  const machineClock = overrides.machineClock ?? (() => new Date());
  const now = overrides.now ?? machineClock;
  const sessionWatch = watchSessions({ database, log, now });
  const judge = createJudge();
  const socketRoom = openRoom({ database, log, now, sessionWatch });
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
    gateway: createSibling({ ...config, baseUrl: config.gatewayUrl, timeoutMs: siblingTimeoutMs }),
    kernel: createSibling({ ...config, baseUrl: config.governanceUrl, timeoutMs: siblingTimeoutMs }),
    keyRing: keyRingOf(config),
    assertions: AssertionVerifier.ofPeople(config.assertionKeys, now),
    keyAssertions: AssertionVerifier.ofKeys('control-plane', config.assertionKeys, now),
    codeGuesses: limitCodeGuesses(config),
    connections: configuredConnections(config.oidcConnections),
    providers: createProviders({ consoleUrl: config.consoleUrl, fetchNow: fetch, now }),
    socketRoom,
    radiusTurns: new Turns(),
    judge,
    fetchNow: fetch,
    site: readSite(),
    now,
    ...clocksOf(database, { now, machineClock, log }),
    transaction: wakingTransaction(database.transaction, relay),
    close: async () => {
      await judge.close();
      await socketRoom.stop();
      await sessionWatch.stop();
      await relay.stop();
      // A bus from outside is shared with other services of the process, so it stays open.
      if (overrides.bus === undefined) await bus.close();
      await database.close();
      await telemetry.close();
    },
  };
}

type Clocked = Pick<Context, 'now' | 'log'> & { machineClock: () => Date };

function clocksOf(
  { nowMs }: ControlPlaneDatabase,
  { now, machineClock, log }: Clocked,
): Pick<Context, 'databaseNow' | 'clockGuard'> {
  const refusal = (distance: string) =>
    new AppError('STORE_UNAVAILABLE', `The clock of this control plane is ${distance}; set its clock`);
  return {
    databaseNow: databaseClock(now === machineClock ? undefined : now),
    clockGuard: new ClockGuard({ machineClock, readDatabaseMs: nowMs, refusal, log }),
  };
}

type Watching = Pick<Context, 'database' | 'log' | 'now'>;

function watchSessions({ database, log, now }: Watching): SessionWatch {
  return new SessionWatch({
    readLive: async (ids) => new Set(await listLiveAmong(database.reader, ids, now())),
    onFailure: (error) => log.warn('session_watch.failed', { error }),
  });
}

function openRoom({ database, log, now, sessionWatch }: Watching & { sessionWatch: SessionWatch }): SocketRoom {
  const { reader } = database;
  return new SocketRoom({
    sessionWatch,
    readHeads: (scopes) => listHintHeads(reader, scopes),
    readHints: (request) => listHints(reader, request),
    readNumbers: async (scope) => ({
      changes_last_minute: await countHints(reader, { scope, since: new Date(now().getTime() - minuteMs) }),
      unconfirmed_commands: await countUnconfirmed(reader, scope),
    }),
    onFailure: (error) => log.warn('socket_room.failed', { error }),
  });
}

function keyRingOf({
  governanceUrl: baseUrl,
  trustedPublicKeys: configured,
  trustRoot: root,
}: ControlPlaneConfig): KeyRing {
  const kernel = createClient({ listTrustKeys, getTrustList }, { baseUrl, timeoutMs: siblingTimeoutMs });
  const tellKeys = async () => (await kernel.listTrustKeys()).body;
  const tellList = async () => (await kernel.getTrustList()).body;
  return createConfiguredKeyRing({ root, configured }, { tellKeys, tellList }, nodeProvider);
}
