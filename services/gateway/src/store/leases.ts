import { z } from 'zod';
import type { RunModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';

/**
 * The right of one worker to move a run. `fence` rises with each claim, so a worker that was presumed dead cannot
 * write late.
 */
export type Lease = {
  runId: string;
  taskId: string;
  workspaceId: string;
  owner: string;
  fence: number;
  startedBy: string;
};

const Claimed = z.array(
  z.object({ workspace_id: z.string(), task_id: z.string(), lease_fence: z.int(), started_by: z.string() }),
);

/**
 * Claims a queued run of an open lane, or a run of any lane whose worker stopped renewing its lease. An open step is
 * finished even while the lane is held. `null` when there is nothing to claim. Leases use the clock of the database,
 * which all workers share.
 */
export async function claimRun(
  tx: Tx,
  { runId, owner, leaseMs }: { runId: string; owner: string; leaseMs: number },
): Promise<Lease | null> {
  const rows = await tx.$queryRaw`
    UPDATE runs SET status = 'running', lease_owner = ${owner}, lease_until = now() + ${leaseMs}::float8 * interval '1 millisecond',
           lease_fence = lease_fence + 1, attempts = attempts + 1, started_at = coalesce(started_at, now()), over_limit = false
     WHERE id = ${runId} AND (
             (status = 'queued'
              AND NOT EXISTS (SELECT FROM workspaces w WHERE w.id = runs.workspace_id AND w.lane = 'hold'))
             OR (status = 'running' AND (lease_until IS NULL OR lease_until < now())))
    RETURNING workspace_id, task_id, lease_fence, started_by`;
  const [claimed] = Claimed.parse(rows);
  if (claimed === undefined) return null;
  const { workspace_id: workspaceId, task_id: taskId, lease_fence: fence, started_by: startedBy } = claimed;
  return { runId, taskId, workspaceId, owner, fence, startedBy };
}

/** `false` when the lease was lost to another worker, or because the run ended. */
export async function renewLease(tx: Tx, lease: Lease, leaseMs: number): Promise<boolean> {
  const renewed = await tx.$executeRaw`
    UPDATE runs SET lease_until = now() + ${leaseMs}::float8 * interval '1 millisecond'
     WHERE id = ${lease.runId} AND lease_fence = ${lease.fence}::int AND status = 'running'`;
  return renewed === 1;
}

/** Returns a run of a held lane to the queue, without a job. `freeRuns` makes it due when the lane opens. */
export async function releaseToLane(tx: Tx, { runId, fence }: Lease): Promise<void> {
  await tx.$executeRaw`
    UPDATE runs SET status = 'queued', lease_owner = NULL, lease_until = NULL, attempts = greatest(attempts - 1, 0), over_limit = true
     WHERE id = ${runId} AND lease_fence = ${fence}::int AND status = 'running'`;
}

export function findLeasedRun(reader: Reader, { runId, fence }: Lease): Promise<RunModel | null> {
  return reader.run.findUnique({ where: { id: runId, leaseFence: fence } });
}

/** Locks the run until the transaction ends. `false` when the lease no longer counts. */
export async function lockLeasedRun(tx: Tx, { runId, fence }: Lease): Promise<boolean> {
  return (await tx.$executeRaw`SELECT FROM runs WHERE id = ${runId} AND lease_fence = ${fence}::int FOR UPDATE`) === 1;
}

/** Like lockLeasedRun, and also `false` when the run is no longer running. */
export async function lockRunningRun(tx: Tx, { runId, fence }: Lease): Promise<boolean> {
  const renewed = await tx.$executeRaw`
    SELECT FROM runs WHERE id = ${runId} AND lease_fence = ${fence}::int AND status = 'running' FOR UPDATE`;
  return renewed === 1;
}

/** Returns a run to the queue, for a worker that stops in an orderly way. */
export async function releaseLease(tx: Tx, lease: Lease): Promise<boolean> {
  const { count } = await tx.run.updateMany({
    where: { id: lease.runId, leaseFence: lease.fence, status: 'running' },
    data: { status: 'queued', leaseOwner: null, leaseUntil: null, attempts: { decrement: 1 } },
  });
  return count === 1;
}

export type LeftRun = { runId: string; workspaceId: string; taskId: string; attempts: number };

/**
 * Runs whose worker stopped renewing. The mark keeps other sweepers away for one lease, so a worker has time to claim
 * the run.
 */
export async function takeOrphans(tx: Tx, leaseMs: number): Promise<LeftRun[]> {
  const rows = await tx.$queryRaw`
    UPDATE runs SET orphaned_at = now() WHERE id IN (
      SELECT id FROM runs WHERE status = 'running' AND lease_until < now()
         AND (orphaned_at IS NULL OR orphaned_at < now() - ${leaseMs}::float8 * interval '1 millisecond')
       ORDER BY lease_until LIMIT 50 FOR UPDATE SKIP LOCKED)
    RETURNING id, workspace_id, task_id, attempts`;
  return leftRuns(rows);
}

/** Runs that waited for so long that their job may be lost, for example as a dead letter or in a purged queue. */
export async function takeUnclaimed(tx: Tx, waitedMs: number): Promise<LeftRun[]> {
  const rows = await tx.$queryRaw`
    UPDATE runs SET orphaned_at = now() WHERE id IN (
      SELECT id FROM runs WHERE status = 'queued' AND NOT over_limit
         AND coalesce(orphaned_at, created_at) < now() - ${waitedMs}::float8 * interval '1 millisecond'
       ORDER BY coalesce(orphaned_at, created_at) LIMIT 50 FOR UPDATE SKIP LOCKED)
    RETURNING id, workspace_id, task_id, attempts`;
  return leftRuns(rows);
}

const Abandoned = z.array(
  z.object({ id: z.string(), workspace_id: z.string(), task_id: z.string(), attempts: z.int() }),
);

export function leftRuns(rows: unknown): LeftRun[] {
  return Abandoned.parse(rows).map(({ id, workspace_id: workspaceId, task_id: taskId, attempts }) => ({
    runId: id,
    workspaceId,
    taskId,
    attempts,
  }));
}
