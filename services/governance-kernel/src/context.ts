import type { Digest } from '@countersign/contracts';
import type { Signature } from '@countersign/contracts/governance-kernel';
import { encodeBase64Url } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner } from '@countersign/crypto/signing';
import { openDatabase } from '@countersign/database';
import {
  createInProcessBus,
  createRabbitBus,
  eventFactory,
  OutboxRelay,
  type MessageBus,
} from '@countersign/messaging';
import { evaluateRules, gateRoster } from '@countersign/policy';
import { createLogger, type Log } from '@countersign/service-kit';
import type { GateName } from '@countersign/contracts';
import { monotonicFactory } from 'ulid';
import { expireApproval } from './approvals/approvals.ts';
import { readApproverKeys } from './approvals/approver-keys.ts';
import { createBoundary, type BoundaryParts } from './boundary/boundary.ts';
import type { CycleSettings, Judgeable } from './boundary/conclude-call.ts';
import { keepUnsealed } from './boundary/keep-unsealed.ts';
import { settleAbandoned } from './boundary/settle-abandoned.ts';
import { tenantSalts } from './boundary/tenant-salts.ts';
import type { AskRules } from './boundary/rule-evaluation.ts';
import { dispatchMsMax, type KernelConfig } from './config.ts';
import { demoPolicy, demoTenant } from './demo/demo-policy.ts';
import { GroupCommit, type TransactBatch } from './ledger/group-commit.ts';
import { Policies } from './policy/policies.ts';
import { policyKeys } from './policy/policy-keys.ts';
import { requireGates } from './policy/require-gates.ts';
import { secureRandom } from './secure-random.ts';
import { createUpstreams } from './upstreams.ts';
import { findLatestCheckpoint, getLogHead, recordCheckpoint } from './store/checkpoint-store.ts';
import { listOverdueDispatches } from './store/dispatch-store.ts';
import { listOverdueApprovals } from './store/approval-store.ts';
import { forgetAnswers, idempotencyStore } from './store/idempotency-store.ts';
import { ledgerTransaction } from './store/ledger-store.ts';
import { logView } from './store/log-source.ts';
import { createMcpRegistry } from './store/mcp-registry.ts';
import { openPrisma } from './store/prisma.ts';
import { transactionOn } from './store/transaction.ts';
import { listActivePolicies } from './store/policy-store.ts';
import { recordSigningKey } from './store/trust-key-store.ts';
import { LogWatch } from './tail/log-watch.ts';
import { startCheckpointer } from './workers/checkpointer.ts';
import { startDemoPolicy } from './workers/demo-policy.ts';
import { watchPolicyFile, type PolicyFile } from './workers/policy-file.ts';
import { startHousekeeper } from './workers/housekeeper.ts';
import { startReconciler } from './workers/reconciler.ts';

export type KernelOverrides = {
  clock?: () => Date;
  log?: Log;
  bus?: MessageBus;
  askRules?: AskRules;
  spoil?: (judged: Judgeable) => Judgeable;
  wiredGates?: readonly GateName[];
};

/** Often enough that a crashed call's reservation is not missed for long, rare enough to cost nothing. */
const reconcileEveryMs = 5_000;

/** An expiry is enforced at once; this is how late those who wait may hear of it. */
const housekeepEveryMs = 10_000;

export type Kernel = Awaited<ReturnType<typeof createContext>>;

/** The one object that owns the kernel's collaborators; `close()` ends them in reverse. */
export async function createContext(config: KernelConfig, overrides: KernelOverrides = {}) {
  const roster = gateRoster(nodeProvider);
  requireGates(overrides.wiredGates ?? roster.gates);
  const core = createCore(config, overrides, roster.hash as Digest); // gateRoster hashes with digestOf
  await recordSigningKey(core.pool, core.signer, core.clock());
  const workers = await startWorkers(core, overrides);
  const upstreams = createUpstreams({
    ...core,
    registry: createMcpRegistry(core),
    answers: idempotencyStore(core.pool, { clock: core.clock, runningMsMax: dispatchMsMax(config) }),
  });
  await upstreams.mcp.start();
  const close = async () => {
    await upstreams.close();
    await workers.close();
    await core.logWatch.close();
    await core.ledger.close();
    await core.database.close();
  };
  return { ...core, ...workers, ...upstreams, close };
}

type Core = ReturnType<typeof createCore>;

function createCore(config: KernelConfig, overrides: KernelOverrides, rosterHash: Digest) {
  const clock = overrides.clock ?? (() => new Date());
  const log = overrides.log ?? logOf(config);
  const signer = createSigner(config.GOV_SIGNING_KEY);
  const provider = nodeProvider;
  const database = openDatabase({ url: config.DATABASE_URL, schema: 'kernel' });
  const { pool } = database;
  const newUlid = monotonicFactory(secureRandom());
  const logWatch = new LogWatch({ view: logView(pool), log });
  const transact = ledgerTransaction({ pool, sealer: { provider, signer }, clock });
  const ledger = new GroupCommit(noticed(transact, logWatch));
  const policies = new Policies({
    ledger,
    provider,
    trustedKeys: policyKeys(config.GOV_POLICY_PUBLIC_KEYS, signer),
    load: (tenants) => listActivePolicies(pool, tenants),
    clock,
    newUlid,
    rosterHash,
  });
  const cycle: BoundaryParts = {
    ledger,
    policies,
    askRules: overrides.askRules ?? evaluateRules,
    hasher: { provider, saltOf: tenantSalts(provider, config.GOV_TENANT_SALT_SECRET) },
    clock,
    newUlid,
    settings: { ...cycleSettings(config, rosterHash), spoil: overrides.spoil },
  };
  const newEvent = eventFactory({ source: '/governance-kernel' });
  const stores = { database, pool, prisma: openPrisma(database) };
  const approverKeys = readApproverKeys(config.GOV_APPROVER_KEYS);
  const made = {
    approverKeys,
    config,
    clock,
    log,
    signer,
    provider,
    newUlid,
    newEvent,
    rosterHash,
    ledger,
    logWatch,
    policies,
    cycle,
  };
  return { ...made, ...stores, boundary: keepUnsealed(createBoundary(cycle)) };
}

/** Open tails hear of a local commit at once. */
function noticed(transact: TransactBatch, watch: LogWatch): TransactBatch {
  return async (reads, work) => {
    await transact(reads, work);
    watch.noticeCommit();
  };
}

function cycleSettings(config: KernelConfig, rosterHash: Digest): CycleSettings {
  return {
    provider: nodeProvider,
    rosterHash,
    policyAgeMaxMs: config.GOV_POLICY_MAX_AGE,
    dispatchDeadlineMs: config.GOV_DISPATCH_DEADLINE,
    publicUrl: config.GOV_PUBLIC_URL ?? `http://${config.GOV_BIND_ADDR}:${config.GOV_PORT}`,
  };
}

function logOf({ GOV_LOG_LEVEL, NODE_ENV }: KernelConfig): Log {
  const silent = GOV_LOG_LEVEL === 'silent';
  const layout = NODE_ENV === 'production' ? 'json' : 'readable';
  return createLogger({ service: 'governance-kernel', level: silent ? 'error' : GOV_LOG_LEVEL, layout, silent });
}

async function startWorkers(core: Core, overrides: KernelOverrides) {
  const { config, pool, clock, log, provider, signer, newUlid, cycle } = core;
  const checkpointer = startCheckpointer({
    provider,
    signer,
    origin: config.GOV_LOG_ORIGIN,
    getLogHead: () => getLogHead(pool),
    findLatest: () => findLatestCheckpoint(pool),
    record: (checkpoint) => recordCheckpoint(pool, checkpoint),
    clock,
    newUlid,
    log,
    receiptsMax: config.GOV_CHECKPOINT_RECEIPTS,
    intervalMs: config.GOV_CHECKPOINT_INTERVAL,
  });
  const reconciler = startReconciler({
    sealKept: () => core.boundary.sealKept(),
    live: () => core.boundary.live(),
    listOverdue: (query) => listOverdueDispatches(pool, query),
    settleAbandoned: (decided) => settleAbandoned(cycle, decided),
    clock,
    log,
    intervalMs: reconcileEveryMs,
  });
  const housekeeper = startHousekeeper({
    listOverdueApprovals: (now, limit) => listOverdueApprovals(core.prisma, now, limit),
    expireApproval: (key) => expireApproval(core, key),
    forgetAnswers: (now) => forgetAnswers(pool, now),
    clock,
    log,
    intervalMs: housekeepEveryMs,
  });
  const bus = overrides.bus ?? busOf(config);
  const relay = new OutboxRelay({ bus, transaction: transactionOn(pool) });
  relay.start();
  const policyFile = await startPolicyFile(core);
  const demo = await startDemoPolicy({
    tenant: demoTenant,
    bundle: demoPolicy,
    policies: core.policies,
    sign: signatureBy(signer),
    log,
    // Node fires a timer of more than 2^31 ms at once and without end.
    intervalMs: Math.min(Math.max(1_000, config.GOV_POLICY_MAX_AGE / 4), 86_400_000),
  });
  const close = async () => {
    demo.close();
    policyFile?.close();
    housekeeper.close();
    reconciler.close();
    checkpointer.close();
    await relay.stop();
    if (overrides.bus === undefined) await bus.close();
  };
  return { checkpointer, reconciler, housekeeper, bus, relay, close };
}

function busOf(config: KernelConfig): MessageBus {
  if (config.AMQP_URL === undefined) return createInProcessBus();
  return createRabbitBus({ url: config.AMQP_URL, exchange: 'countersign', name: 'governance-kernel' });
}

async function startPolicyFile({ config, policies, signer, log }: Core): Promise<PolicyFile | null> {
  if (config.GOV_POLICY_FILE === undefined) return null;
  const file = watchPolicyFile({
    path: config.GOV_POLICY_FILE,
    policies,
    sign: signatureBy(signer),
    log,
    intervalMs: config.GOV_POLICY_FILE_INTERVAL,
  });
  await file.refresh();
  return file;
}

function signatureBy({ keyId, sign }: Core['signer']): (bytes: Uint8Array) => Signature {
  return (bytes) => ({ alg: 'Ed25519', key_id: keyId, value: encodeBase64Url(sign(bytes)) });
}
