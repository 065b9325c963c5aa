import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  AppError,
  startDeadline,
  type ConformanceReportId,
  type Digest,
  type Instant,
  type PrincipalId,
  type SessionId,
} from '@countersign/contracts';
import {
  sessionOfRun,
  tenantOfVector,
  type ConformanceScope,
  type ConformanceVector,
  type LiveVector,
  type SignedConformanceReport,
  type VectorResult,
} from '@countersign/contracts/governance-kernel';
import type { CryptoProvider, Signer } from '@countersign/crypto';
import type { NewEvent } from '@countersign/messaging';
import { build, type ClockGuard, type Log } from '@countersign/service-kit';
import { chosenVectors, conformanceVerdict } from '@countersign/verifier';
import type { BoundaryParts } from '../boundary/boundary.ts';
import type { KernelConfig } from '../kernel-config.ts';
import type { AnyControl } from '../ledger/control.ts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import type { Policies } from '../policy/policies.ts';
import type { Checkpoints } from '../proof/checkpoints.ts';
import { trustedKeysOf } from '../proof/trusted-keys.ts';
import type { RelationWriting } from '../relations/change-relations.ts';
import type { Signers } from '../signers.ts';
import type { ConformanceStore } from '../store/conformance-store.ts';
import type { TrustKeyRow } from '../store/trust-key-store.ts';
import { arrangeTenant } from './arrange-tenant.ts';
import { executeInProcess } from './in-process.ts';
import { executeLive, type Site } from './live.ts';
import type { Vectors } from './read-vectors.ts';
import { attestReport, reportIdOf } from './report.ts';
import { detailOf, type Executed } from './result.ts';
import type { RunCredential } from './run-credential.ts';
import { scopesOfVector } from './tenants.ts';

export type ConformanceParts = Pick<RelationWriting, 'standingRelations' | 'relationTurns'> & {
  config: KernelConfig;
  store: ConformanceStore;
  listTrustKeys: () => Promise<TrustKeyRow[]>;
  throwawaySigner: () => Signer;
  ledger: GroupCommit;
  policies: Policies;
  provider: CryptoProvider;
  signers: Signers;
  clock: () => Date;
  clockGuard: ClockGuard;
  newUlid: (nowMs: number) => string;
  newEvent: NewEvent;
  cycle: BoundaryParts;
  controls: readonly AnyControl[];
  checkpoints: Pick<Checkpoints, 'create'>;
  rosterHash: Digest;
  vectors: Vectors;
  credential: RunCredential;
  /** Where this process listens. Null: not yet. */
  ownUrl: () => string | null;
  log: Log;
};

/** All vectors together. Vectors that are not executed by then have failed. */
const runMsMax = 120_000;
/** A run that began so long ago has died with its process. */
const runForgottenMs = 2 * runMsMax;
/** Few enough that callers of the kernel have their turns in between. */
const liveAtOnce = 4;

type Asked = { scope: ConformanceScope; by: PrincipalId };

/**
 * One run: takes the only slot of the installation, clears what an earlier run left, executes the vectors, clears again, and attests
 * what was seen. Throws ILLEGAL_TRANSITION while another run goes on.
 */
export async function runVectors(parts: ConformanceParts, { scope, by }: Asked): Promise<SignedConformanceReport> {
  const started = parts.clock();
  const id = reportIdOf(parts.newUlid(started.getTime()));
  const forgottenBefore = new Date(started.getTime() - runForgottenMs);
  if (!(await parts.store.beginRun({ id, at: started, forgottenBefore })))
    throw new AppError('ILLEGAL_TRANSITION', 'Another conformance run goes on; wait for it to end');
  try {
    const results = await executeAll(parts, { scope, id });
    const report = await reportOn(parts, { scope, id, started, results });
    const signed = await attestReport({ ...parts, signer: parts.signers.receipts }, { report, by });
    await parts.store.recordReport(signed);
    return signed;
  } finally {
    await parts.store.endRun(id);
  }
}

type Running = { scope: ConformanceScope; id: ConformanceReportId };

async function executeAll(parts: ConformanceParts, { scope, id }: Running): Promise<VectorResult[]> {
  const chosen = chosenVectors(parts.vectors.all, scope);
  const live = chosen.filter((vector) => vector.surface === 'live');
  const settings = { tenants: live.map((vector) => tenantOfVector(vector.id)), scopes: live.flatMap(scopesOfVector) };
  await parts.store.forgetSettings(settings);
  const { signal, clear } = startDeadline({ ms: runMsMax });
  try {
    const site = await siteOf(parts, signal);
    const session = sessionOfRun(id);
    return await eachInTurn(chosen, (vector) =>
      vector.surface === 'in_process'
        ? timed(vector, signal, () => executeInProcess(parts, vector))
        : timed(vector, signal, () => executeOn(parts, vector, { site, session })),
    );
  } finally {
    clear();
    parts.credential.end();
    await parts.store.forgetSettings(settings);
  }
}

async function siteOf(parts: ConformanceParts, signal: AbortSignal): Promise<Site> {
  const { credential, provider, listTrustKeys, store, ownUrl } = parts;
  const url = ownUrl();
  if (url === null) throw new Error('The kernel does not listen yet');
  return {
    url,
    token: credential.issue(),
    provider,
    trust: trustedKeysOf(await listTrustKeys()),
    stranger: tenantOfVector('stranger'), // of the form that its schema has
    countOpenCalls: (tenant) => store.countOpenCalls(tenant),
    signal,
  };
}

async function executeOn(
  parts: ConformanceParts,
  vector: LiveVector,
  { site, session }: { site: Site; session: SessionId },
): Promise<Executed | 'skipped'> {
  if (vector.needs === 'model' && parts.config.upstream.url === null) return 'skipped';
  return await executeLive(site, vector, { ...(await arrangeTenant(parts, vector)), session });
}

/** A vector that could not be executed has shown nothing, so it has failed. */
async function timed(
  { id, surface }: ConformanceVector,
  signal: AbortSignal,
  execute: () => Promise<Executed | 'skipped'>,
): Promise<VectorResult> {
  const startedMs = performance.now();
  const named = { vector_id: id, surface };
  const lasted = () => ({ duration_ms: Math.round(performance.now() - startedMs) });
  await nextTurn(); // a vector in process waits for nothing, and callers have their turns in between
  try {
    signal.throwIfAborted();
    const executed = await execute();
    if (executed === 'skipped')
      return { ...named, outcome: 'skipped', detail: 'No model server is configured', seen: [], ...lasted() };
    const { fault, seen } = executed;
    const outcome = fault === null ? 'passed' : 'failed';
    return { ...named, outcome, detail: fault === null ? null : detailOf(fault), seen, ...lasted() };
  } catch (error) {
    const detail = detailOf(error instanceof Error ? error.message : String(error));
    return { ...named, outcome: 'failed', detail, seen: [], ...lasted() };
  }
}

/** A few at a time, answered in their order. */
async function eachInTurn(
  vectors: readonly ConformanceVector[],
  execute: (vector: ConformanceVector) => Promise<VectorResult>,
): Promise<VectorResult[]> {
  const results: VectorResult[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < vectors.length; index = next++) {
      const vector = vectors[index];
      if (vector !== undefined) results[index] = await execute(vector);
    }
  };
  await Promise.all(Array.from({ length: liveAtOnce }, work));
  return results;
}

type Ended = Running & { started: Date; results: VectorResult[] };

async function reportOn(parts: ConformanceParts, { scope, id, started, results }: Ended) {
  const counted = (outcome: VectorResult['outcome']) => results.filter((result) => result.outcome === outcome).length;
  const { tree_size } = await parts.checkpoints.create();
  await parts.policies.reload('*');
  return {
    type: 'countersign.conformance-report.v1' as const,
    report_id: id,
    scope,
    verdict: conformanceVerdict(results),
    passed: counted('passed'),
    failed: counted('failed'),
    skipped: counted('skipped'),
    results,
    vectors_hash: parts.vectors.hash,
    gate_roster_hash: parts.rosterHash,
    policy_hash: parts.policies.current('*')?.hash ?? null,
    build: { ...build },
    tree_size,
    started_at: started.toISOString() as Instant, // toISOString writes exactly this form
    ended_at: parts.clock().toISOString() as Instant, // as above
  };
}
