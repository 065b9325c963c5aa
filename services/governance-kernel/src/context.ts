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
import { PresentedKeys } from './controls/access-keys/presented-keys.ts';
import { argsCipher } from './controls/approvals/args-cipher.ts';
import { ApproverSessions } from './doors/approver-pages/sessions.ts';
import { setInstallationCeiling } from './controls/budgets/set-installation-ceiling.ts';
import { createBoundary, type BoundaryDeps } from './decision/boundary.ts';
import type { CycleSettings, Judgeable } from './decision/conclude-call.ts';
import { decisionTelemetry } from './decision/decision-telemetry.ts';
import { Dispatch } from './decision/dispatch.ts';
import { ledgerAwayMsMax } from './doors/chat/judge-calls.ts';
import { KeptAnswers } from './decision/kept-answers.ts';
import { tenantSalts } from './call/tenant-salts.ts';
import type { AskRules } from './decision/rule-evaluation.ts';
import { DemoAllowance } from './doors/demo/demo-allowance.ts';
import { dispatchMsMax, toolCallMsMax, type KernelConfig } from './kernel-config.ts';
import { readVectors } from './evidence/conformance/read-vectors.ts';
import { RunCredential } from './evidence/conformance/run-credential.ts';
import { runVectors } from './evidence/conformance/run-vectors.ts';
import type { KernelContext } from './context-groups.ts';
import { controls } from './controls.ts';
import { KnownOrgs } from './controls/fences/known-orgs.ts';
import { AgentTokens } from './controls/identities/agent-tokens.ts';
import { KeyChallenges } from './controls/identities/key-challenges.ts';
import { OauthTokens } from './doors/oauth/oauth-tokens.ts';
import { LedgerClockGuard } from './ledger/clock-guard.ts';
import { KeyGuard } from './ledger/key-guard.ts';
import { gaugeKernel } from './gauges.ts';
import type { StandingDeps } from './doors/status/boundary-status.ts';
import { sizeOfLog } from './store/gauge-store.ts';
import { listReceipts } from './store/receipt-store.ts';
import { countOpen, listScopesAround } from './store/standing-store.ts';
import { closeAll } from './close-all.ts';
import { openLedger } from './open-ledger.ts';
import { createRegistryDesk, declareInstalled, firstListDeps } from './registry-wiring.ts';
import { Confirmations } from './controls/policy/confirmations.ts';
import { Policies } from './controls/policy/policies.ts';
import { policyKeys } from './controls/policy/policy-keys.ts';
import { requireGates } from './controls/policy/require-gates.ts';
import { ShadowDrafts } from './controls/policy/shadow-drafts.ts';
import { assertSameLog } from './evidence/proof/same-log.ts';
import { createReceiptProver } from './evidence/proof/prove-receipt.ts';
import { signedHeads } from './evidence/proof/signed-heads.ts';
import { WitnessContradictions } from './evidence/proof/witness-contradictions.ts';
import { secureRandom } from './secure-random.ts';
import { passkeysMax, type PasskeyDeps } from './controls/passkeys/passkey-deps.ts';
import { partiesAt } from './controls/passkeys/relying-party.ts';
import { openConfig } from './doors/server-registry/open-config.ts';
import { sealFirstList } from './doors/server-registry/seal-first-list.ts';
import { egressAccount } from './controls/sandbox/egress-account.ts';
import { createCallableTools, createSessions } from './session-wiring.ts';
import type { SessionTimes } from './doors/mcp-session/mcp-sessions.ts';
import { createGuards } from './guards.ts';
import { createSigners, evidenceSignerOf, throwawaySigner } from './signers.ts';
import { runSelfTest } from './decision/self-test/self-test.ts';
import { upstreamTokenStore } from './store/upstream-token-store.ts';
import { createUpstreams } from './upstreams.ts';
import { findAccessKey, findAccessKeyById, recordKeyUses } from './store/access-key-store.ts';
import { challengeStore } from './store/challenge-store.ts';
import { findLatestCheckpoint } from './store/checkpoint-store.ts';
import { conformanceStore, findLastProven } from './store/conformance-store.ts';
import { openKernelDatabase, type KernelDatabase } from './store/database.ts';
import { findFences } from './store/fence-store.ts';
import { findLiveKey } from './store/identity-store.ts';
import { headsIn, proofsIn } from './store/heads-in.ts';
import { idempotencyStore } from './store/idempotency-store.ts';
import { ledgerStore } from './store/ledger-store.ts';
import { logView } from './store/log-source.ts';
import { createMcpRegistry } from './store/mcp-registry.ts';
import { serverLoader } from './store/mcp-server-store.ts';
import { findPasskey, listLivingPasskeys } from './store/passkey-store.ts';
import { relationsIn } from './store/relation-stores.ts';
import { stopsIn } from './store/stops-in.ts';
import { listStoredPolicies } from './store/policy-store.ts';
import { findShadowDrafts } from './store/shadow-lane-store.ts';
import { publishOwnKeys } from './store/publish-own-keys.ts';
import { shown } from './store/shown-database.ts';
import { trustStore } from './store/trust-list-store.ts';
import { LogWatch } from './evidence/tail/log-watch.ts';
import { PublishedKeys } from './evidence/trust/published-keys.ts';

export type ContextOverrides = {
  /** The clock of this machine, which is compared with the clock of the database. */
  machineClock?: () => Date;
  /**
   * The kernel's clock, for tests that move the time. The clock of the machine is still compared with the database's
   * clock.
   */
  clock?: () => Date;
  log?: Log;
  bus?: MessageBus;
  askRules?: AskRules;
  spoil?: (judged: Judgeable) => Judgeable;
  wiredGates?: readonly GateName[];
  /** Broken gates for tests. The self-test at start uses the real ones, and a conformance run uses these. */
  gates?: GateTable;
  /** The most receipts of a period in one export. */
  periodReceiptsMax?: number;
  /** How long the answer of a model waits for an unavailable ledger. */
  ledgerAwayMsMax?: number;
  mcpSessionTimes?: SessionTimes;
};

/** The most receipts in an export, so that it is sent within minutes. Proxies may interrupt longer answers. */
const periodReceiptsMax = 100_000;

const newEvent = eventFactory({ source: '/governance-kernel' });

export type Context = KernelContext;

/** Creates the kernel's collaborators. `close()` closes them in reverse order. */
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

async function completeContext(core: Core, overrides: ContextOverrides): Promise<Context> {
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
  await declareInstalled(core);
  const messages = createMessages(core, overrides);
  await core.upstreams.start();
  const { mcpSessions, notices } = createSessions(core, overrides);
  const credentials = { ...createCredentials(core), ...createConformance(core) };
  const guards = createGuards({ ...core, ...credentials });
  const close = async () => {
    await notices.close();
    await core.upstreams.close();
    await messages.close();
    await core.close();
  };
  return {
    ...core,
    ...messages,
    ...createDoors(core),
    ledgerAwayMsMax: overrides.ledgerAwayMsMax ?? ledgerAwayMsMax,
    ...credentials,
    ...{ mcpSessions, callableTools: createCallableTools(core) },
    verifyCaller: async (request) => void (await guards.tenant_scoped(request)),
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

export type Core = ReturnType<typeof createCore>;

/** Exports take as long as their readers, so they have connections of their own and delay no decision. */
const exportsAtOnce = 2;

type Options = { rosterHash: Digest; telemetry: Telemetry };

function createCore(config: KernelConfig, overrides: ContextOverrides, { rosterHash, telemetry }: Options) {
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
  const cycle: BoundaryDeps = {
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
    ...{ config, clock, databaseNow, log, signers, provider, newUlid, newEvent, rosterHash, tracer: telemetry.tracer },
    ...{ ledger, logWatch, clockGuard, keyGuard, publishedKeys, policies, relations, confirmations },
    ...{ evidenceSigner: evidenceSignerOf(config), argsCipher: cipher, cycle, upstreams, telemetry },
  };
  const boundary = createBoundary(cycle);
  upstreams.accountForEgress((owner) => egressAccount({ ...made, ...stopsIn(reader, clock), boundary }, owner));
  upstreams.sealFirstListsWith((listed) => sealFirstList(firstListDeps({ ...made, reader }), listed));
  const effects = new Dispatch(boundary);
  const judge = createJudge();
  const listKeys = () => publishedKeys.list();
  const signed = signedHeads({ ...made, signer: signers.log }, headsIn(database, provider, listKeys));
  const witnessContradictions = new WitnessContradictions();
  gaugeKernel(telemetry.meter, { reader, live: () => effects.live().length, clock, witnessContradictions });
  return {
    ...{ ...made, ...shown(database), exports, judge, boundary, dispatch: effects, witnessContradictions },
    ...signed,
    proveReceipt: createReceiptProver({ ...proofsIn(database, provider), ...signed, provider, listKeys }),
    close: () => closeAll({ ...made, judge, exports, database }),
  };
}

type UpstreamDeps = {
  config: KernelConfig;
  log: Log;
  tracer: Telemetry['tracer'];
  provider: CryptoProvider;
  clock: () => Date;
  database: KernelDatabase;
  cipher: ReturnType<typeof argsCipher>;
};

function upstreamsOf({ database, cipher, ...input }: UpstreamDeps) {
  const { provider, clock } = input;
  return createUpstreams({
    ...{ ...input, registry: createMcpRegistry({ ...database, clock }) },
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

function createPasskeys({ config, ledger, provider, reader, transaction, clock, newUlid }: Core): PasskeyDeps {
  return {
    ...{ ledger, provider, clock, newUlid },
    challenges: challengeStore(transaction),
    ...partiesAt(config),
    findPasskey: (key) => findPasskey(reader, key),
    listLiving: (owner) => listLivingPasskeys(reader, owner, passkeysMax),
  };
}

/** The collaborators of routes outside the boundary. Calls reach upstreams only through the dispatch. */
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
    dispatchMsMax: dispatchMsMax(config),
    toolCallMsMax: toolCallMsMax(config),
  };
}

function createConformance(core: Core) {
  const credential = new RunCredential();
  const vectors = readVectors(core.provider);
  let url: string | null = null;
  const deps = {
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
      run: (request: Parameters<typeof runVectors>[1]) => runVectors(deps, request),
      listensAt: (at: string) => {
        url = at;
      },
    },
  };
}

/** A bus from outside is shared with other services of the process, so it stays open. */
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
  const { policyAgeMaxMs, relationsAgeMaxMs, priceCurrency, dispatchDeadlineMs } = config;
  return {
    ...{ ...made, newEvent, provider: nodeProvider },
    ...{ policyAgeMaxMs, relationsAgeMaxMs, priceCurrency, dispatchDeadlineMs },
    pages: { publicUrl: config.publicUrl, consoleUrl: config.consoleUrl },
    monotonicMs: () => performance.now(),
  };
}

/** The sources of the current state of tenants. */
function standingOf(
  { reader, config, policies, clock, rosterHash, upstreams }: Core,
  provenGates: readonly GateName[],
): StandingDeps {
  const { policyAgeMaxMs } = config;
  return {
    ...{ clock, rosterHash, provenGates, policies, policyAgeMaxMs },
    countOpen: (tenant, now) => countOpen(reader, tenant, now),
    listScopesAround: (tenant, request) => listScopesAround(reader, tenant, request),
    findFences: (scopes) => findFences(reader, scopes),
    findLatestCheckpoint: () => findLatestCheckpoint(reader),
    sizeOfLog: () => sizeOfLog(reader),
    findLastProven: () => findLastProven(reader),
    listLatestReceipts: (tenant) => listReceipts(reader, tenant, {}, { limit: shownReceiptsMax, before: null }),
    countTools: async (tenant) => (await upstreams.mcp.listTools(tenant)).length,
  };
}
