import type { Digest } from '@countersign/contracts';
import { shownReceiptsMax } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { databaseClock } from '@countersign/database';
import { createJudge } from '@countersign/judge';
import {
  eventFactory,
  gaugeDeadLetters,
  messagingTransaction,
  openBus,
  OutboxRelay,
  reportTo,
  type MessageBus,
} from '@countersign/messaging';
import { evaluateRules, wiredGates, type GateTable } from '@countersign/policy';
import { gateRosterHash } from '@countersign/receipts';
import { AssertionVerifier, createLogger, type Log, type Telemetry } from '@countersign/service-kit';
import type { GateName } from '@countersign/contracts';
import { monotonicFactory } from 'ulid';
import { PresentedKeys } from './access-keys/presented-keys.ts';
import { argsCipher } from './approvals/args-cipher.ts';
import { ApproverSessions } from './approver-pages/sessions.ts';
import { setInstallationCeiling } from './budgets/set-installation-ceiling.ts';
import { createBoundary, type BoundaryParts } from './boundary/boundary.ts';
import type { CycleSettings, Judgeable } from './boundary/conclude-call.ts';
import { decisionTelemetry } from './boundary/decision-telemetry.ts';
import { Dispatch } from './boundary/dispatch.ts';
import { ledgerAwayMsMax } from './chat/judge-calls.ts';
import { KeptAnswers } from './boundary/kept-answers.ts';
import { tenantSalts } from './call/tenant-salts.ts';
import type { AskRules } from './boundary/rule-evaluation.ts';
import { DemoAllowance } from './demo/demo-allowance.ts';
import { dispatchMsMax, type KernelConfig } from './kernel-config.ts';
import { readVectors } from './conformance/read-vectors.ts';
import { RunCredential } from './conformance/run-credential.ts';
import { runVectors } from './conformance/run-vectors.ts';
import { controls } from './controls.ts';
import { KnownOrgs } from './fences/known-orgs.ts';
import { AgentTokens } from './identities/agent-tokens.ts';
import { KeyChallenges } from './identities/key-challenges.ts';
import { OauthTokens } from './oauth/oauth-tokens.ts';
import { LedgerClockGuard } from './ledger/clock-guard.ts';
import { KeyGuard } from './ledger/key-guard.ts';
import { gaugeKernel } from './gauges.ts';
import type { StandingParts } from './standing/boundary-status.ts';
import { findLastProven } from './store/conformance-store.ts';
import { sizeOfLog } from './store/gauge-store.ts';
import { listReceipts } from './store/receipt-store.ts';
import { countOpen, listScopesAround } from './store/standing-store.ts';
import { closeAll } from './close-all.ts';
import { openLedger } from './open-ledger.ts';
import { Confirmations } from './policy/confirmations.ts';
import { Policies } from './policy/policies.ts';
import { policyKeys } from './policy/policy-keys.ts';
import { requireGates } from './policy/require-gates.ts';
import { ShadowDrafts } from './policy/shadow-drafts.ts';
import { assertSameLog } from './proof/same-log.ts';
import { signedHeads } from './proof/signed-heads.ts';
import { secureRandom } from './secure-random.ts';
import { passkeysMax, type PasskeyParts } from './passkeys/passkey-parts.ts';
import { partiesAt } from './passkeys/relying-party.ts';
import { openConfig } from './server-registry/open-config.ts';
import type { DeskParts } from './server-registry/registry-desk.ts';
import { egressAccount } from './sandbox/egress-account.ts';
import { createSigners, evidenceSignerOf, throwawaySigner } from './signers.ts';
import { runSelfTest } from './self-test/self-test.ts';
import { upstreamTokenStore } from './store/upstream-token-store.ts';
import { createUpstreams } from './upstreams.ts';
import { findAccessKey, findAccessKeyById, recordKeyUses } from './store/access-key-store.ts';
import { challengeStore } from './store/challenge-store.ts';
import { findLatestCheckpoint } from './store/checkpoint-store.ts';
import { conformanceStore } from './store/conformance-store.ts';
import { openKernelDatabase, type KernelDatabase } from './store/database.ts';
import { findFences } from './store/fence-store.ts';
import { findLiveKey } from './store/identity-store.ts';
import { headsIn } from './store/heads-in.ts';
import { idempotencyStore } from './store/idempotency-store.ts';
import { ledgerStore } from './store/ledger-store.ts';
import { logView } from './store/log-source.ts';
import { createMcpRegistry } from './store/mcp-registry.ts';
import { deskStore, serverLoader } from './store/mcp-server-store.ts';
import { findPasskey, listLivingPasskeys } from './store/passkey-store.ts';
import { findGrants } from './store/sandbox-grant-store.ts';
import { relationsIn } from './store/relation-stores.ts';
import { stopsIn } from './store/stops-in.ts';
import { listStoredPolicies } from './store/policy-store.ts';
import { findShadowDrafts } from './store/shadow-lane-store.ts';
import { publishOwnKeys } from './store/publish-own-keys.ts';
import { shown } from './store/shown-database.ts';
import { trustStore } from './store/trust-list-store.ts';
import { LogWatch } from './tail/log-watch.ts';
import { PublishedKeys } from './trust/published-keys.ts';

export type ContextOverrides = {
  /** The clock of this machine, which is held against the database's. */
  machineClock?: () => Date;
  /**
   * The kernel's clock, where a test moves the time. The clock of the machine is held against the database's all the
   * same.
   */
  clock?: () => Date;
  log?: Log;
  bus?: MessageBus;
  askRules?: AskRules;
  spoil?: (judged: Judgeable) => Judgeable;
  wiredGates?: readonly GateName[];
  /** Gates that are broken on purpose. The self-test before the start looks at the real ones; a conformance run looks at these. */
  gates?: GateTable;
  /** The most receipts of a period that an export gives. */
  periodReceiptsMax?: number;
  /** How long the answer of a model waits for a ledger that is away. */
  ledgerAwayMsMax?: number;
};

/** This number is sent within some minutes, and a server behind this one need not allow an endless answer. */
const periodReceiptsMax = 100_000;

const newEvent = eventFactory({ source: '/governance-kernel' });

export type Context = Awaited<ReturnType<typeof createContext>>;

/** The one object that owns the kernel's collaborators; `close()` ends them in reverse. */
export async function createContext(config: KernelConfig, telemetry: Telemetry, overrides: ContextOverrides = {}) {
  const gates = wiredGates();
  requireGates(overrides.wiredGates ?? gates);
  const core = createCore(config, overrides, { rosterHash: gateRosterHash(nodeProvider, gates), telemetry });
  try {
    return await completeContext(core, overrides);
  } catch (error) {
    await core.close();
    throw error;
  }
}

async function completeContext(core: Core, overrides: ContextOverrides) {
  const { config } = core;
  const selfTest = await runSelfTest({
    cycle: {
      ...core.cycle,
      askRules: evaluateRules,
      settings: { ...core.cycle.settings, gates: undefined },
    },
    signer: throwawaySigner(),
    controls,
    decisions: config.selfTestDecisions,
  });
  await requireDatabase(core.database);
  await core.clockGuard.assertNear();
  assertSameLog(await findLatestCheckpoint(core.reader), config.logOrigin);
  await publishOwnKeys(core);
  if (config.modelSpend !== null) await setInstallationCeiling(core, config.modelSpend);
  const messages = createMessages(core, overrides);
  await core.upstreams.start();
  const close = async () => {
    await core.upstreams.close();
    await messages.close();
    await core.close();
  };
  return {
    ...core,
    ...messages,
    ...createDoors(core),
    ledgerAwayMsMax: overrides.ledgerAwayMsMax ?? ledgerAwayMsMax,
    ...createCredentials(core),
    ...createConformance(core),
    passkeys: createPasskeys(core),
    registryDesk: createRegistryDesk(core),
    periodReceiptsMax: overrides.periodReceiptsMax ?? periodReceiptsMax,
    demoAllowance: new DemoAllowance(core.clock),
    selfTest,
    standing: standingOf(core, selfTest.denying),
    close,
  };
}

async function requireDatabase(database: Pick<KernelDatabase, 'ping'>): Promise<void> {
  await database.ping().catch((cause: unknown) => {
    throw new Error('The database of DATABASE_URL does not answer', { cause });
  });
}

type Core = ReturnType<typeof createCore>;

/** Connections of their own: an export reads for as long as its reader takes, and decisions must not wait for one. */
const exportsAtOnce = 2;

type Given = { rosterHash: Digest; telemetry: Telemetry };

function createCore(config: KernelConfig, overrides: ContextOverrides, { rosterHash, telemetry }: Given) {
  const machineClock = overrides.machineClock ?? (() => new Date());
  const clock = overrides.clock ?? machineClock;
  const log = overrides.log ?? createLogger({ service: 'governance-kernel', ...config.log });
  const signers = createSigners(config);
  const provider = nodeProvider;
  const database = openKernelDatabase(config.databaseUrl);
  const exports = openKernelDatabase(config.databaseUrl, { connectionsMax: exportsAtOnce });
  const { pool, reader } = database;
  const newUlid = monotonicFactory(secureRandom());
  const logWatch = new LogWatch({ view: logView(reader), log });
  const databaseNow = databaseClock(clock === machineClock ? undefined : clock);
  const clockGuard = new LedgerClockGuard({ clock, machineClock, log, readDatabaseMs: () => database.nowMs() });
  const publishedKeys = new PublishedKeys({ root: config.trustRoot, provider, ...trustStore(reader) });
  const keyGuard = new KeyGuard({ signers, clock, log, listKeys: () => publishedKeys.list() });
  const store = ledgerStore({ pool, controls, clockGuard, keyGuard });
  const ledger = openLedger(store, { signer: signers.receipts, logWatch, meter: telemetry.meter });
  const confirmations = new Confirmations(provider, policyKeys(config.policyKeys, signers.policies));
  const load = (tenants: string[]) => listStoredPolicies(reader, tenants);
  const policies = new Policies({
    ...{ ledger, provider, confirmations, policyAgeMaxMs: config.policyAgeMaxMs, load, clock, newUlid },
    findKeyFault: (keyId, at) => keyGuard.findPolicyKeyFault(keyId, at),
  });
  const shadows = new ShadowDrafts({ provider, log, load: (tenant) => findShadowDrafts(reader, tenant) });
  const relations = relationsIn(reader);
  const cipher = argsCipher(config.tenantSaltSecret);
  const upstreams = upstreamsOf({ config, log, tracer: telemetry.tracer, provider, clock, database, cipher });
  const cycle: BoundaryParts = {
    ...{ ledger, policies, shadows, relations },
    tools: upstreams.mcp,
    askRules: overrides.askRules ?? evaluateRules,
    hasher: { provider, saltOf: tenantSalts(provider, config.tenantSaltSecret) },
    ...{ clock, newUlid, orgs: new KnownOrgs(), ...stopsIn(reader, clock) },
    tellDecision: decisionTelemetry(telemetry),
    settings: {
      ...cycleSettings(config, { rosterHash, argsCipher: cipher, confirmations }),
      ...{ spoil: overrides.spoil, gates: overrides.gates },
    },
  };
  const made = {
    ...{ config, clock, databaseNow, log, signers, provider, newUlid, newEvent, rosterHash },
    ...{ ledger, logWatch, clockGuard, keyGuard, publishedKeys, policies, relations, confirmations },
    ...{ evidenceSigner: evidenceSignerOf(config), argsCipher: cipher },
    ...{ cycle, upstreams, telemetry, tracer: telemetry.tracer },
  };
  const boundary = createBoundary(cycle);
  upstreams.accountForEgress((owner) => egressAccount({ ...made, ...stopsIn(reader, clock), boundary }, owner));
  const effects = new Dispatch(boundary);
  const judge = createJudge();
  const heads = headsIn(database, provider, () => publishedKeys.list());
  gaugeKernel(telemetry.meter, { reader, live: () => effects.live().length, clock });
  return {
    ...{ ...made, ...shown(database), exports, judge, boundary, dispatch: effects },
    ...signedHeads({ ...made, signer: signers.log }, heads),
    close: () => closeAll({ ...made, judge, exports, database }),
  };
}

type UpstreamGiven = {
  config: KernelConfig;
  log: Log;
  tracer: Telemetry['tracer'];
  provider: CryptoProvider;
  clock: () => Date;
  database: KernelDatabase;
  cipher: ReturnType<typeof argsCipher>;
};

function upstreamsOf({ database, cipher, ...given }: UpstreamGiven) {
  const { provider, clock } = given;
  return createUpstreams({
    ...{ ...given, registry: createMcpRegistry({ ...database, clock }) },
    refreshTokens: upstreamTokenStore({ ...database, provider, cipher, clock }),
    loadServers: serverLoader(database.reader, {
      ...{ provider, clock },
      open: (row, sealed) => openConfig(cipher, row, sealed),
    }),
  });
}

function createCredentials({ config, provider, reader, transaction, clock }: Core) {
  const presentedKeys = new PresentedKeys({
    ...{ provider, clock },
    find: (hash) => findAccessKey(reader, hash),
    findById: (id) => findAccessKeyById(reader, id),
    recordUses: (uses) => transaction((tx) => recordKeyUses(tx, uses)),
  });
  const approverSessions = new ApproverSessions({
    ...{ keys: presentedKeys, clock },
    secret: config.tenantSaltSecret,
    isSecure: config.publicUrl.startsWith('https:'),
  });
  const agentTokens = new AgentTokens({
    ...{ clock, audience: config.publicUrl },
    findLiveKey: (key) => findLiveKey(reader, key),
  });
  const keyChallenges = new KeyChallenges({ secret: config.tenantSaltSecret, clock });
  const assertions = AssertionVerifier.ofWorkspaces(config.assertionKeys, clock);
  const oauthTokens = config.oauth && new OauthTokens({ ...config.oauth, clock });
  return { presentedKeys, assertions, agentTokens, oauthTokens, keyChallenges, approverSessions };
}

function createPasskeys({ config, ledger, provider, reader, transaction, clock, newUlid }: Core): PasskeyParts {
  return {
    ...{ ledger, provider, clock, newUlid },
    challenges: challengeStore(transaction),
    ...partiesAt(config),
    findPasskey: (key) => findPasskey(reader, key),
    listLiving: (owner) => listLivingPasskeys(reader, owner, passkeysMax),
  };
}

/** The dependencies of operators of the registry of MCP servers. */
function createRegistryDesk({ config, reader, upstreams, cycle, ...core }: Core): DeskParts {
  return {
    ...{ ...core, hasher: cycle.hasher, reachesPrivate: config.mcpReachesPrivate, ...upstreams.forDesk },
    ...deskStore(reader),
    findGrants: (tenant) => findGrants(reader, tenant),
  };
}

/** The dependencies of doors beside the boundary. Upstreams they reach through the dispatch alone. */
function createDoors({ config, reader, transaction, clock, databaseNow, upstreams, dispatch }: Core) {
  const answers = idempotencyStore({ reader, transaction }, { databaseNow, runningMsMax: dispatchMsMax(config) });
  return {
    ...upstreams.behind(dispatch),
    mcp: upstreams.mcp,
    modelList: upstreams.modelList,
    answers,
    keptAnswers: new KeptAnswers({ store: answers, clock }),
    prices: config.modelPrices,
    approverKeys: config.approverKeys,
    callTimeoutMs: config.mcpTimeoutMs,
    dispatchMsMax: dispatchMsMax(config),
  };
}

/** `listensAt` tells where this process listens, once it does: a run calls its own kernel as everybody else does. */
function createConformance(core: Core) {
  const credential = new RunCredential();
  const vectors = readVectors(core.provider);
  let url: string | null = null;
  const parts = {
    ...core,
    ...{ controls, vectors, credential, throwawaySigner },
    store: conformanceStore(core),
    listTrustKeys: () => core.publishedKeys.list(),
    ownUrl: () => url,
  };
  return {
    vectors,
    runCredential: credential,
    conformance: {
      run: (asked: Parameters<typeof runVectors>[1]) => runVectors(parts, asked),
      listensAt: (at: string) => {
        url = at;
      },
    },
  };
}

/** A bus that was handed in is shared with other services of the process. */
function createMessages({ config, log, telemetry, transaction }: Core, overrides: ContextOverrides) {
  const report = reportTo(log);
  const bus = overrides.bus ?? openBus({ ...config.bus, name: 'governance-kernel', report });
  gaugeDeadLetters(telemetry.meter, bus);
  const relay = new OutboxRelay({ bus, report, transaction: messagingTransaction(transaction) });
  const close = async () => {
    await relay.stop();
    if (overrides.bus === undefined) await bus.close();
  };
  return { bus, relay, close };
}

function cycleSettings(
  config: KernelConfig,
  made: Pick<CycleSettings, 'rosterHash' | 'argsCipher' | 'confirmations'>,
): CycleSettings {
  return {
    ...made,
    newEvent,
    provider: nodeProvider,
    policyAgeMaxMs: config.policyAgeMaxMs,
    relationsAgeMaxMs: config.relationsAgeMaxMs,
    priceCurrency: config.priceCurrency,
    dispatchDeadlineMs: config.dispatchDeadlineMs,
    pages: { publicUrl: config.publicUrl, consoleUrl: config.consoleUrl },
    monotonicMs: () => performance.now(),
  };
}

/** The sources of the standing of tenants. */
function standingOf(
  { reader, config, policies, clock, rosterHash, upstreams }: Core,
  provenGates: readonly GateName[],
): StandingParts {
  const { policyAgeMaxMs } = config;
  return {
    ...{ clock, rosterHash, provenGates, policies, policyAgeMaxMs },
    countOpen: (tenant, now) => countOpen(reader, tenant, now),
    listScopesAround: (tenant, asked) => listScopesAround(reader, tenant, asked),
    findFences: (scopes) => findFences(reader, scopes),
    findLatestCheckpoint: () => findLatestCheckpoint(reader),
    sizeOfLog: () => sizeOfLog(reader),
    findLastProven: () => findLastProven(reader),
    listLatestReceipts: (tenant) => listReceipts(reader, tenant, {}, { limit: shownReceiptsMax, before: null }),
    countTools: async (tenant) => (await upstreams.mcp.listTools(tenant)).length,
  };
}
