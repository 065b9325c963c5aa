import { build } from '@countersign/service-kit';
import type { Digest, GateName, Instant, TenantId } from '@countersign/contracts';
import {
  shownFencesMax,
  type BoundaryStatus,
  type Checkpoint,
  type FenceScope,
  type StoredReceipt,
} from '@countersign/contracts/governance-kernel';
import { stopsEveryCall, type FenceRow } from '../fences/fence-row.ts';
import { fenceView } from '../fences/fence-view.ts';
import type { Policies } from '../policy/policies.ts';
import { policyStanding } from './policy-standing.ts';

/** Where it is read. */
export type StandingParts = {
  clock: () => Date;
  rosterHash: Digest;
  provenGates: readonly GateName[];
  policies: Pick<Policies, 'reload' | 'standing'>;
  policyAgeMaxMs: number;
  countOpen(tenant: TenantId, now: Date): Promise<BoundaryStatus['counts']>;
  listScopesAround(tenant: TenantId, asked: { now: Date; limit: number }): Promise<FenceScope[]>;
  findFences(scopes: readonly FenceScope[]): Promise<FenceRow[]>;
  findLatestCheckpoint(): Promise<Checkpoint | null>;
  sizeOfLog(): Promise<number>;
  findLastProven(): Promise<Instant | null>;
  listLatestReceipts(tenant: TenantId): Promise<StoredReceipt[]>;
  countTools(tenant: TenantId): Promise<number>;
};

/** Where the tenant stands now, as the database holds it. */
export async function boundaryStatus(parts: StandingParts, tenant: TenantId): Promise<BoundaryStatus> {
  const now = parts.clock();
  const nowMs = now.getTime();
  const [policy, counts, scopes, checkpoint, size, lastProven] = await Promise.all([
    policyStanding({ ...parts, nowMs }, tenant),
    parts.countOpen(tenant, now),
    parts.listScopesAround(tenant, { now, limit: shownFencesMax + 1 }),
    parts.findLatestCheckpoint(),
    parts.sizeOfLog(),
    parts.findLastProven(),
  ]);
  const fences = await parts.findFences(scopes.slice(0, shownFencesMax));
  const isStopped = fences.some((fence) => stopsTenant(fence, tenant));
  return {
    tenant_id: tenant,
    status: policy.state === 'fresh' && !isStopped ? 'ready' : 'closed',
    mode: 'enforce',
    version: build.version,
    gates: { roster_hash: parts.rosterHash, proven: [...parts.provenGates] },
    policy,
    log: { size },
    last_checkpoint: checkpoint === null ? null : shownCheckpoint(checkpoint),
    fences: fences.map((fence) => fenceView(fence, nowMs)),
    more_fences: scopes.length > shownFencesMax,
    counts,
    last_proven_fail_closed: lastProven,
    updated_at: now.toISOString() as Instant, // toISOString writes exactly this form
  };
}

/** A fence around an agent, a tool or a server leaves the others their calls. */
function stopsTenant(fence: FenceRow, tenant: TenantId): boolean {
  const { scope } = fence;
  // The tenant's own organisation is the only one among them.
  return stopsEveryCall(fence) && (scope === 'system' || scope === `tenant:${tenant}` || scope.startsWith('org:'));
}

function shownCheckpoint({ checkpoint_id, tree_size, root_hash, created_at }: Checkpoint) {
  return { checkpoint_id, tree_size, root_hash, created_at };
}
