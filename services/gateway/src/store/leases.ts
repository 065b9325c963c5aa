import type { RunRow } from './runs.ts';
import type { Sql } from './sql.ts';

/** The right of one worker to move a run. `fence` rises with each claim, so a worker that was thought dead cannot write late. */
export type Lease = { runId: string; taskId: string; workspaceId: string; owner: string; fence: number };

/** Claims a run that waits, or whose worker stopped renewing. Null when there is nothing to do or another one is at it. */
export async function claimRun(
  sql: Sql,
  claim: { runId: string; owner: string; leaseMs: number },
): Promise<Lease | null> {
  const { rows } = await sql.query<RunRow>(
    `UPDATE runs SET status = 'running', lease_owner = $2, lease_until = now() + $3::float8 * interval '1 millisecond',
            lease_fence = lease_fence + 1, attempts = attempts + 1, started_at = coalesce(started_at, now())
      WHERE id = $1 AND (status = 'queued' OR (status = 'running' AND (lease_until IS NULL OR lease_until < now())))
      RETURNING *`,
    [claim.runId, claim.owner, claim.leaseMs],
  );
  const [row] = rows;
  if (row === undefined) return null;
  return {
    runId: row.id,
    taskId: row.task_id,
    workspaceId: row.workspace_id,
    owner: claim.owner,
    fence: row.lease_fence,
  };
}

/** False when the lease was lost: to another worker, or because the run ended. */
export async function renewLease(sql: Sql, lease: Lease, leaseMs: number): Promise<boolean> {
  const { rowCount } = await sql.query(
    `UPDATE runs SET lease_until = now() + $3::float8 * interval '1 millisecond'
      WHERE id = $1 AND lease_fence = $2 AND status = 'running'`,
    [lease.runId, lease.fence, leaseMs],
  );
  return rowCount === 1;
}

export async function findLeasedRun(sql: Sql, lease: Lease): Promise<RunRow | null> {
  const { rows } = await sql.query<RunRow>('SELECT * FROM runs WHERE id = $1 AND lease_fence = $2', [
    lease.runId,
    lease.fence,
  ]);
  return rows[0] ?? null;
}

/** Holds the run until the transaction ends; null when the lease is not worth anything any more. */
export async function lockLeasedRun(tx: Sql, lease: Lease): Promise<RunRow | null> {
  const { rows } = await tx.query<RunRow>('SELECT * FROM runs WHERE id = $1 AND lease_fence = $2 FOR UPDATE', [
    lease.runId,
    lease.fence,
  ]);
  return rows[0] ?? null;
}

/** Gives a run back to the queue, for a worker that stops in good order. */
export async function releaseLease(tx: Sql, lease: Lease): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE runs SET status = 'queued', lease_owner = NULL, lease_until = NULL, attempts = attempts - 1
      WHERE id = $1 AND lease_fence = $2 AND status = 'running'`,
    [lease.runId, lease.fence],
  );
  return rowCount === 1;
}

export type LeftRun = { runId: string; workspaceId: string; taskId: string; attempts: number };

/**
 * Runs whose worker stopped renewing. The mark keeps other sweepers away for one lease time, in which somebody has the chance to
 * claim the run.
 */
export async function takeOrphans(tx: Sql, leaseMs: number): Promise<LeftRun[]> {
  const { rows } = await tx.query<LeftRow>(
    `UPDATE runs SET orphaned_at = now() WHERE id IN (
       SELECT id FROM runs WHERE status = 'running' AND lease_until < now()
          AND (orphaned_at IS NULL OR orphaned_at < now() - $1::float8 * interval '1 millisecond')
        ORDER BY lease_until LIMIT 50 FOR UPDATE SKIP LOCKED)
     RETURNING id, workspace_id, task_id, attempts`,
    [leaseMs],
  );
  return rows.map(leftRunOf);
}

/** Runs that nobody claimed for so long that their job may be lost: a dead letter, a queue that was purged. */
export async function takeUnclaimed(tx: Sql, waitedMs: number): Promise<LeftRun[]> {
  const { rows } = await tx.query<LeftRow>(
    `UPDATE runs SET orphaned_at = now() WHERE id IN (
       SELECT id FROM runs WHERE status = 'queued'
          AND coalesce(orphaned_at, created_at) < now() - $1::float8 * interval '1 millisecond'
        ORDER BY id LIMIT 50 FOR UPDATE SKIP LOCKED)
     RETURNING id, workspace_id, task_id, attempts`,
    [waitedMs],
  );
  return rows.map(leftRunOf);
}

type LeftRow = { id: string; workspace_id: string; task_id: string; attempts: number };

function leftRunOf({ id, workspace_id, task_id, attempts }: LeftRow): LeftRun {
  return { runId: id, workspaceId: workspace_id, taskId: task_id, attempts };
}
