import type { CryptoProvider } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { eventFactory } from '@countersign/messaging';
import { evaluateRules, wiredGates } from '@countersign/policy';
import { gateRosterHash } from '@countersign/receipts';
import type { Log } from '@countersign/service-kit';
import { monotonicFactory } from 'ulid';
import type { EvidenceKeyRow } from '../controls/evidence/evidence-envelopes.ts';
import { argsCipher } from '../controls/approvals/args-cipher.ts';
import { createBoundary, type BoundaryDeps } from '../decision/boundary.ts';
import { tenantSalts } from '../call/tenant-salts.ts';
import { controls } from '../controls.ts';
import type { EvidenceSigner } from '../evidence-signer.ts';
import { KnownOrgs } from '../controls/fences/known-orgs.ts';
import { LedgerClockGuard } from '../ledger/clock-guard.ts';
import { createCommit } from '../ledger/commit.ts';
import { GroupCommit } from '../ledger/group-commit.ts';
import { KeyGuard } from '../ledger/key-guard.ts';
import { Confirmations } from '../controls/policy/confirmations.ts';
import { Policies } from '../controls/policy/policies.ts';
import { ShadowDrafts } from '../controls/policy/shadow-drafts.ts';
import { createCheckpoints } from '../evidence/proof/checkpoints.ts';
import { countedHeads } from '../evidence/proof/counted-heads.ts';
import { fileLedgerStore } from './registry-file/file-ledger-store.ts';
import { RegistryFile, type ChangeStep } from './registry-file/registry-file.ts';
import { Relations } from '../controls/relations/relation-source.ts';
import type { ToolResolver } from '../registry/tool-resolver.ts';
import { secureRandom } from '../secure-random.ts';
import { createSigners, evidenceSignerOf, generateKeys, type Signers } from '../signers.ts';
import type { TrustKeyRow } from '../store/trust-key-store.ts';
import { openBoundaryKeys } from './boundary-keys.ts';
import { fileHeads } from './file-heads.ts';
import { fileReads } from './file-reads.ts';

type CoreOptions = {
  /** The registry file. */
  path: string;
  log: Log;
  /** The address at which people reach this boundary, for links to approvals. */
  publicUrl: string;
  logOrigin: string;
  clock?: () => Date;
  lockWaitMs?: number;
  onStep?: (step: ChangeStep) => void;
};

/** The defaults of a kernel. */
const policyAgeMaxMs = 86_400_000;
const relationsAgeMaxMs = 86_400_000;
const dispatchDeadlineMs = 300_000;
const checkpointReceiptsMax = 1_000;
const checkpointIntervalMs = 60_000;

/** A local boundary has no MCP servers, so each tool belongs to its caller. */
const noServers: ToolResolver = { resolve: () => null, forOneAnswer: () => ({ resolve: () => null }) };

export type Core = Awaited<ReturnType<typeof openCore>>;

/** The kernel's own decision cycle, policies and checkpoints over the registry file. Throws for damaged keys. */
export async function openCore(options: CoreOptions) {
  const { path, log, clock = () => new Date(), logOrigin } = options;
  const provider = nodeProvider;
  const keys = await openBoundaryKeys(path, { now: clock(), generate: generateKeys });
  const signers = createSigners({
    ...{ signingKeyPem: keys.signing_key, policyKeyPem: keys.policy_key, logKeyPem: keys.log_key },
    assertionKeys: [],
  });
  const file = new RegistryFile({ ...options, provider, controls });
  const reads = fileReads(file);
  const newUlid = monotonicFactory(secureRandom());
  const newEvent = eventFactory({ source: '/local-boundary' });
  const trustKeys = publishedKeys(signers, { logOrigin, from: new Date(keys.created_at) });
  const clockGuard = new LedgerClockGuard({
    clock,
    machineClock: clock,
    log,
    readDatabaseMs: async () => clock().getTime(),
  });
  const keyGuard = new KeyGuard({ signers, clock, log, listKeys: async () => trustKeys });
  const sealer = { provider, signer: signers.receipts };
  const ledger = new GroupCommit(createCommit({ store: fileLedgerStore(file, controls), sealer, controls }));
  const confirmations = new Confirmations(provider, [signers.policies]);
  const policies = new Policies({
    ...{ ledger, provider, confirmations, policyAgeMaxMs, clock, newUlid },
    load: (tenants) => reads.loadPolicies(tenants),
    findKeyFault: (keyId, at) => keyGuard.findPolicyKeyFault(keyId, at),
  });
  const cipher = argsCipher(keys.tenant_salt_secret);
  const cycle: BoundaryDeps = {
    ...{ ledger, policies, clock, newUlid, tools: noServers, askRules: evaluateRules, orgs: new KnownOrgs() },
    shadows: new ShadowDrafts({ provider, log, load: async () => null }),
    relations: new Relations({ findHead: async () => null, loadTuples: dispatchesNothing }),
    hasher: { provider, saltOf: tenantSalts(provider, keys.tenant_salt_secret) },
    ...{ findFencesAround: dispatchesNothing, isRevokedCaller: dispatchesNothing, isWithdrawnTool: dispatchesNothing },
    settings: {
      ...{ provider, argsCipher: cipher, rosterHash: gateRosterHash(provider, wiredGates()), confirmations, newEvent },
      ...{ policyAgeMaxMs, relationsAgeMaxMs, priceCurrency: null, dispatchDeadlineMs },
      pages: { publicUrl: options.publicUrl, consoleUrl: null },
      monotonicMs: () => performance.now(),
    },
  };
  const evidenceSigner = evidenceSignerOf({ evidenceKeyPem: keys.evidence_key });
  const evidenceKeys = evidenceSigner === null ? [] : publishedEvidenceKeys(evidenceSigner, new Date(keys.created_at));
  const core = {
    ...{ file, reads, keys, signers, provider, clock, log, newUlid, newEvent, ledger, policies, cycle },
    ...{ clockGuard, keyGuard, trustKeys, logOrigin, argsCipher: cipher },
    config: { priceCurrency: null },
    evidenceSigner,
    listEvidenceKeys: async () => evidenceKeys,
    boundary: createBoundary(cycle),
  };
  return { ...core, ...headsOf(core) };
}

type Heading = Pick<BoundaryDeps, 'clock' | 'newUlid'> & {
  file: RegistryFile;
  provider: CryptoProvider;
  signers: Signers;
  logOrigin: string;
  keyGuard: KeyGuard;
} & {
  trustKeys: TrustKeyRow[];
  clockGuard: LedgerClockGuard;
};

function headsOf({
  file,
  provider,
  signers,
  clock,
  newUlid,
  logOrigin: origin,
  keyGuard,
  trustKeys,
  clockGuard,
}: Heading) {
  const store = fileHeads(file, provider, trustKeys);
  const checkpoints = createCheckpoints({
    ...{ provider, signer: signers.log, clock, newUlid, origin },
    ...{ receiptsMax: checkpointReceiptsMax, intervalMs: checkpointIntervalMs },
    ...store,
    assertClockNear: () => clockGuard.assertNear(),
    assertKeyCounting: (at) => keyGuard.assertCounting(['log'], at),
    isCounted: async (checkpoint) => heads.isCounted(checkpoint),
  });
  const heads = countedHeads({ provider, origin, create: checkpoints.create, ...store }, trustKeys);
  return { checkpoints, heads };
}

/** Replaces reads that never happen here, since a local boundary sends no calls and has no relations. */
function dispatchesNothing(): Promise<never> {
  return Promise.reject(new Error('A local boundary dispatches no calls'));
}

/** The validity of the keys begins at their creation and has no end. */
function publishedKeys(signers: Signers, { logOrigin, from }: { logOrigin: string; from: Date }): TrustKeyRow[] {
  return (['receipts', 'policies', 'log'] as const).map((purpose) => ({
    key_id: signers[purpose].keyId,
    public_key: Uint8Array.from(signers[purpose].publicKey),
    purpose,
    log_origin: purpose === 'log' ? logOrigin : null,
    valid_from: from,
    valid_until: null,
    revoked_at: null,
  }));
}

function publishedEvidenceKeys(signer: EvidenceSigner, from: Date): EvidenceKeyRow[] {
  return (['ES256', 'EdDSA'] as const).map((alg) => ({
    ...{ key_id: signer[alg].keyId, public_key: signer[alg].publicKey, alg },
    ...{ valid_from: from, valid_until: null, revoked_at: null },
  }));
}
