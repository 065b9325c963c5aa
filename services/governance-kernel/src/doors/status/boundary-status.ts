import { build } from '@countersign/service-kit';
import { instantOf, type Digest, type GateName, type Instant, type TenantId } from '@countersign/contracts';
import {
  shownFencesMax,
  type BoundaryStatus,
  type Checkpoint,
  type FenceScope,
  type StoredReceipt,
} from '@countersign/contracts/governance-kernel';
import { stopsEveryCall, type FenceRow } from '../../controls/fences/fence-row.ts';
import { fenceView } from '../../controls/fences/fence-view.ts';
import type { Policies } from '../../controls/policy/policies.ts';
import { policyStanding } from './policy-standing.ts';

/** The sources of the status. */
export type StandingDeps = {
  clock: () => Date;
  rosterHash: Digest;
  provenGates: readonly GateName[];
  policies: Pick<Policies, 'reload' | 'stateOf'>;
  policyAgeMaxMs: number;
  countOpen(tenant: TenantId, now: Date): Promise<BoundaryStatus['counts']>;
  listScopesAround(tenant: TenantId, request: { now: Date; limit: number }): Promise<FenceScope[]>;
  findFences(scopes: readonly FenceScope[]): Promise<FenceRow[]>;
  findLatestCheckpoint(): Promise<Checkpoint | null>;
  sizeOfLog(): Promise<number>;
  findLastProven(): Promise<Instant | null>;
  listLatestReceipts(tenant: TenantId): Promise<StoredReceipt[]>;
  countTools(tenant: TenantId): Promise<number>;
};

/** The current status of the tenant, from the database. */
export async function boundaryStatus(deps: StandingDeps, tenant: TenantId): Promise<BoundaryStatus> {
  const now = deps.clock();
  const nowMs = now.getTime();
  const [policy, counts, scopes, checkpoint, size, lastProven] = await Promise.all([
    policyStanding({ ...deps, nowMs }, tenant),
    deps.countOpen(tenant, now),
    deps.listScopesAround(tenant, { now, limit: shownFencesMax + 1 }),
    deps.findLatestCheckpoint(),
    deps.sizeOfLog(),
    deps.findLastProven(),
  ]);
  const fences = await deps.findFences(scopes.slice(0, shownFencesMax));
  const isStopped = fences.some((fence) => stopsTenant(fence, tenant));
  return {
    tenant_id: tenant,
    status: policy.state === 'fresh' && !isStopped ? 'ready' : 'closed',
    mode: 'enforce',
    version: build.version,
    gates: { roster_hash: deps.rosterHash, proven: [...deps.provenGates] },
    policy,
    log: { size },
    last_checkpoint: checkpoint === null ? null : shownCheckpoint(checkpoint),
    fences: fences.map((fence) => fenceView(fence, nowMs)),
    more_fences: scopes.length > shownFencesMax,
    counts,
    last_proven_fail_closed: lastProven,
    updated_at: instantOf(now),
  };
}

/** Whether the fence stops all calls of the tenant. A fence on an agent, a tool or a server stops only some calls. */
function stopsTenant(fence: FenceRow, tenant: TenantId): boolean {
  const { scope } = fence;
  // The only organisation among these scopes is the tenant's own.
  return stopsEveryCall(fence) && (scope === 'system' || scope === `tenant:${tenant}` || scope.startsWith('org:'));
}

function shownCheckpoint({ checkpoint_id, tree_size, root_hash, created_at }: Checkpoint) {
  return { checkpoint_id, tree_size, root_hash, created_at };
}
