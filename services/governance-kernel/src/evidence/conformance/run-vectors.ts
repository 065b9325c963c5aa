import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  instantOf,
  AppError,
  startDeadline,
  type ConformanceReportId,
  type Digest,
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
import type { BoundaryDeps } from '../../decision/boundary.ts';
import type { KernelConfig } from '../../kernel-config.ts';
import type { AnyControl } from '../../ledger/control.ts';
import type { GroupCommit } from '../../ledger/group-commit.ts';
import type { Policies } from '../../controls/policy/policies.ts';
import type { Checkpoints } from '../proof/checkpoints.ts';
import { trustedKeysOf } from '../proof/trusted-keys.ts';
import type { RelationWriting } from '../../controls/relations/change-relations.ts';
import type { Signers } from '../../signers.ts';
import type { ConformanceStore } from '../../store/conformance-store.ts';
import type { TrustKeyRow } from '../../store/trust-key-store.ts';
import { arrangeTenant } from './arrange-tenant.ts';
import { executeInProcess } from './in-process.ts';
import { executeLive, type Site } from './live.ts';
import type { Vectors } from './read-vectors.ts';
import { attestReport, reportIdOf } from './report.ts';
import { detailOf, type Executed } from './result.ts';
import type { RunCredential } from './run-credential.ts';
import { scopesOfVector } from './tenants.ts';

export type ConformanceDeps = Pick<RelationWriting, 'standingRelations' | 'relationTurns'> & {
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
  cycle: BoundaryDeps;
  controls: readonly AnyControl[];
  checkpoints: Pick<Checkpoints, 'create'>;
  rosterHash: Digest;
  vectors: Vectors;
  credential: RunCredential;
  /** The address of this process. `null` before it listens. */
  ownUrl: () => string | null;
  log: Log;
};

/** The limit for all vectors together. Vectors that have not run by then count as failed. */
const runMsMax = 120_000;
/** A run that began this long ago is assumed to have died with its process. */
const runForgottenMs = 2 * runMsMax;
/** Few enough that other callers of the kernel are still served. */
const liveAtOnce = 4;

type Input = { scope: ConformanceScope; by: PrincipalId };

/**
 * Runs the vectors once: takes the only slot of the installation, removes the state of an earlier run, executes the
 * vectors, removes the state again, and attests the results. Throws ILLEGAL_TRANSITION while another run is in
 * progress.
 */
export async function runVectors(deps: ConformanceDeps, { scope, by }: Input): Promise<SignedConformanceReport> {
  const started = deps.clock();
  const id = reportIdOf(deps.newUlid(started.getTime()));
  const forgottenBefore = new Date(started.getTime() - runForgottenMs);
  if (!(await deps.store.beginRun({ id, at: started, forgottenBefore })))
    throw new AppError('ILLEGAL_TRANSITION', 'Another conformance run is in progress. Wait until it ends');
  try {
    const results = await executeAll(deps, { scope, id });
    const report = await reportOn(deps, { scope, id, started, results });
    const signed = await attestReport({ ...deps, signer: deps.signers.receipts }, { report, by });
    await deps.store.recordReport(signed);
    return signed;
  } finally {
    await deps.store.endRun(id);
  }
}

type Running = { scope: ConformanceScope; id: ConformanceReportId };

async function executeAll(deps: ConformanceDeps, { scope, id }: Running): Promise<VectorResult[]> {
  const chosen = chosenVectors(deps.vectors.all, scope);
  const live = chosen.filter((vector) => vector.surface === 'live');
  const settings = { tenants: live.map((vector) => tenantOfVector(vector.id)), scopes: live.flatMap(scopesOfVector) };
  await deps.store.forgetSettings(settings);
  const { signal, clear } = startDeadline({ ms: runMsMax });
  try {
    const site = await siteOf(deps, signal);
    const session = sessionOfRun(id);
    return await eachInTurn(chosen, (vector) =>
      vector.surface === 'in_process'
        ? timed(vector, signal, () => executeInProcess(deps, vector))
        : timed(vector, signal, () => executeOn(deps, vector, { site, session })),
    );
  } finally {
    clear();
    deps.credential.end();
    await deps.store.forgetSettings(settings);
  }
}

async function siteOf(deps: ConformanceDeps, signal: AbortSignal): Promise<Site> {
  const { credential, provider, listTrustKeys, store, ownUrl } = deps;
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
  deps: ConformanceDeps,
  vector: LiveVector,
  { site, session }: { site: Site; session: SessionId },
): Promise<Executed | 'skipped'> {
  if (vector.needs === 'model' && deps.config.upstream.url === null) return 'skipped';
  return await executeLive(site, vector, { ...(await arrangeTenant(deps, vector)), session });
}

/** A vector that could not be executed counts as failed. */
async function timed(
  { id, surface }: ConformanceVector,
  signal: AbortSignal,
  execute: () => Promise<Executed | 'skipped'>,
): Promise<VectorResult> {
  const startedMs = performance.now();
  const named = { vector_id: id, surface };
  const lasted = () => ({ duration_ms: Math.round(performance.now() - startedMs) });
  await nextTurn(); // an in-process vector never waits, so other callers are served before it
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

/** Runs a few vectors at a time, and returns their results in order. */
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

async function reportOn(deps: ConformanceDeps, { scope, id, started, results }: Ended) {
  const counted = (outcome: VectorResult['outcome']) => results.filter((result) => result.outcome === outcome).length;
  const { tree_size } = await deps.checkpoints.create();
  await deps.policies.reload('*');
  return {
    type: 'countersign.conformance-report.v1' as const,
    report_id: id,
    scope,
    verdict: conformanceVerdict(results),
    passed: counted('passed'),
    failed: counted('failed'),
    skipped: counted('skipped'),
    results,
    vectors_hash: deps.vectors.hash,
    gate_roster_hash: deps.rosterHash,
    policy_hash: deps.policies.current('*')?.hash ?? null,
    build: { ...build },
    tree_size,
    started_at: instantOf(started),
    ended_at: instantOf(deps.clock()),
  };
}
