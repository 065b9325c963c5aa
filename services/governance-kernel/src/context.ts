import type { Digest } from '@countersign/contracts';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { eventFactory, openBus, OutboxRelay, reportTo, type MessageBus } from '@countersign/messaging';
import { evaluateRules, wiredGates } from '@countersign/policy';
import { gateRosterHash } from '@countersign/receipts';
import { AssertionVerifier, createLogger, type Log } from '@countersign/service-kit';
import type { GateName } from '@countersign/contracts';
import { monotonicFactory } from 'ulid';
import { PresentedKeys } from './access-keys/presented-keys.ts';
import { argsCipher } from './approvals/args-cipher.ts';
import { ApproverSessions } from './approver-pages/sessions.ts';
import { setInstallationCeiling } from './budgets/set-installation-ceiling.ts';
import { createBoundary, type BoundaryParts } from './boundary/boundary.ts';
import type { CycleSettings, Judgeable } from './boundary/conclude-call.ts';
import { Dispatch } from './boundary/dispatch.ts';
import { KeptAnswers } from './boundary/kept-answers.ts';
import { tenantSalts } from './call/tenant-salts.ts';
import type { AskRules } from './boundary/rule-evaluation.ts';
import { DemoAllowance } from './demo/demo-allowance.ts';
import { dispatchMsMax, type KernelConfig } from './config.ts';
import { controls } from './controls.ts';
import { createCommit, type Commit } from './ledger/commit.ts';
import { GroupCommit } from './ledger/group-commit.ts';
import { Confirmations } from './policy/confirmations.ts';
import { Policies } from './policy/policies.ts';
import { policyKeys } from './policy/policy-keys.ts';
import { requireGates } from './policy/require-gates.ts';
import { createCheckpoints, type CheckpointsParts } from './proof/checkpoints.ts';
import { secureRandom } from './secure-random.ts';
import { createSigners, type Signers } from './signers.ts';
import { runSelfTest } from './self-test/self-test.ts';
import { createUpstreams } from './upstreams.ts';
import { findAccessKey, findAccessKeyById, recordKeyUses } from './store/access-key-store.ts';
import { findLatestCheckpoint, recordCheckpoint } from './store/checkpoint-store.ts';
import { openKernelDatabase, type KernelDatabase } from './store/database.ts';
import { findFences } from './store/fence-store.ts';
import { idempotencyStore } from './store/idempotency-store.ts';
import { ledgerStore } from './store/ledger-store.ts';
import { logView } from './store/log-source.ts';
import { growLogTree } from './store/log-tree-store.ts';
import { createMcpRegistry } from './store/mcp-registry.ts';
import { messagingTransaction } from './store/messages.ts';
import { listStoredPolicies } from './store/policy-store.ts';
import { recordSigningKeys } from './store/trust-key-store.ts';
import { LogWatch } from './tail/log-watch.ts';

export type ContextOverrides = {
  clock?: () => Date;
  log?: Log;
  bus?: MessageBus;
  askRules?: AskRules;
  spoil?: (judged: Judgeable) => Judgeable;
  wiredGates?: readonly GateName[];
};

export type Context = Awaited<ReturnType<typeof createContext>>;

/** The one object that owns the kernel's collaborators; `close()` ends them in reverse. */
export async function createContext(config: KernelConfig, overrides: ContextOverrides = {}) {
  const gates = wiredGates();
  requireGates(overrides.wiredGates ?? gates);
  const core = createCore(config, overrides, gateRosterHash(nodeProvider, gates));
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
    cycle: { ...core.cycle, askRules: evaluateRules },
    signer: createSigner(generateSigningKey().privateKeyPem),
    controls,
    decisions: config.selfTestDecisions,
  });
  await requireDatabase(core.database);
  const published = publishedKeys(core.signers, config.logOrigin);
  await core.transaction((tx) => recordSigningKeys(tx, published, core.clock()));
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
    ...createCredentials(core),
    demoAllowance: new DemoAllowance(core.clock),
    selfTest,
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

function createCore(config: KernelConfig, overrides: ContextOverrides, rosterHash: Digest) {
  const clock = overrides.clock ?? (() => new Date());
  const log = overrides.log ?? createLogger({ service: 'governance-kernel', ...config.log });
  const signers = createSigners(config);
  const provider = nodeProvider;
  const database = openKernelDatabase(config.databaseUrl);
  const exports = openKernelDatabase(config.databaseUrl, { connectionsMax: exportsAtOnce });
  const { pool, reader } = database;
  const newUlid = monotonicFactory(secureRandom());
  const logWatch = new LogWatch({ view: logView(reader), log });
  const store = ledgerStore({ pool, controls });
  const commit = createCommit({ store, sealer: { provider, signer: signers.receipts }, controls });
  const ledger = new GroupCommit(noticed(commit, logWatch));
  const confirmations = new Confirmations(provider, policyKeys(config.policyKeys, signers.policies));
  const { policyAgeMaxMs } = config;
  const load = (tenants: string[]) => listStoredPolicies(reader, tenants);
  const policies = new Policies({ ledger, provider, confirmations, policyAgeMaxMs, load, clock, newUlid });
  const upstreams = createUpstreams({ config, log, registry: createMcpRegistry({ ...database, clock }) });
  const cipher = argsCipher(config.tenantSaltSecret);
  const cycle: BoundaryParts = {
    ledger,
    policies,
    tools: upstreams.mcp,
    askRules: overrides.askRules ?? evaluateRules,
    hasher: { provider, saltOf: tenantSalts(provider, config.tenantSaltSecret) },
    clock,
    newUlid,
    findFences: (scopes) => findFences(reader, scopes),
    settings: { ...cycleSettings(config, { rosterHash, argsCipher: cipher, confirmations }), spoil: overrides.spoil },
  };
  const made = {
    config,
    clock,
    log,
    signers,
    provider,
    newUlid,
    newEvent: eventFactory({ source: '/governance-kernel' }),
    rosterHash,
    argsCipher: cipher,
    ledger,
    logWatch,
    policies,
    confirmations,
    cycle,
    upstreams,
  };
  const boundary = createBoundary(cycle);
  const checkpoints = signedHeads({ ...made, signer: signers.log }, database);
  const close = async () => {
    await logWatch.close();
    await ledger.close();
    await exports.close();
    await database.close();
  };
  return { ...made, ...shown(database), exports, boundary, checkpoints, dispatch: new Dispatch(boundary), close };
}

/** What routes and workers see of the database: nobody but the ledger sends statements through the pool itself. */
function shown({ pool, reader, transaction, ping }: KernelDatabase) {
  const watched: Pick<typeof pool, 'on'> = pool;
  return { database: { ping }, pool: watched, reader, transaction };
}

type Signing = Pick<CheckpointsParts, 'provider' | 'signer' | 'clock' | 'newUlid'> & { config: KernelConfig };

function signedHeads({ config, provider, signer, clock, newUlid }: Signing, { reader, transaction }: KernelDatabase) {
  return createCheckpoints({
    ...{ provider, signer, clock, newUlid },
    origin: config.logOrigin,
    growTree: () => growLogTree(transaction, provider),
    findLatest: () => findLatestCheckpoint(reader),
    record: (checkpoint) => recordCheckpoint(transaction, checkpoint),
    receiptsMax: config.checkpointReceiptsMax,
    intervalMs: config.checkpointIntervalMs,
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
  return { presentedKeys, assertions: new AssertionVerifier(config.assertionKeys, clock), approverSessions };
}

/** What the doors need beside the boundary. Upstreams they reach through the dispatch alone. */
function createDoors({ config, reader, transaction, clock, upstreams, dispatch }: Core) {
  const answers = idempotencyStore({ reader, transaction }, { clock, runningMsMax: dispatchMsMax(config) });
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

/** A bus that was handed in is shared with other services of the process. */
function createMessages({ config, log, transaction }: Core, overrides: ContextOverrides) {
  const report = reportTo(log);
  const bus = overrides.bus ?? openBus({ ...config.bus, name: 'governance-kernel', report });
  const relay = new OutboxRelay({ bus, report, transaction: messagingTransaction(transaction) });
  const close = async () => {
    await relay.stop();
    if (overrides.bus === undefined) await bus.close();
  };
  return { bus, relay, close };
}

/** Open tails hear of a local commit at once. */
function noticed(commit: Commit, watch: LogWatch): Commit {
  return async (entries) => {
    const results = await commit(entries);
    watch.noticeCommit();
    return results;
  };
}

function cycleSettings(
  config: KernelConfig,
  made: Pick<CycleSettings, 'rosterHash' | 'argsCipher' | 'confirmations'>,
): CycleSettings {
  return {
    ...made,
    provider: nodeProvider,
    policyAgeMaxMs: config.policyAgeMaxMs,
    dispatchDeadlineMs: config.dispatchDeadlineMs,
    publicUrl: config.publicUrl,
    monotonicMs: () => performance.now(),
  };
}

function publishedKeys(signers: Signers, logOrigin: string) {
  return (['receipts', 'policies', 'log'] as const).map((purpose) => ({
    keyId: signers[purpose].keyId,
    publicKey: signers[purpose].publicKey,
    purpose,
    logOrigin: purpose === 'log' ? logOrigin : null,
  }));
}
