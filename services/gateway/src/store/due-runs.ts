import { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';
import type { Tx } from './database.ts';
import { claimRun, leftRuns, type Lease, type LeftRun } from './leases.ts';

type Claim = {
  /** The run that the job contains. */
  runId: string;
  owner: string;
  leaseMs: number;
  /** The most runs of one workspace that run at once. */
  perWorkspaceMax: number;
};

/**
 * Claims the run of the job if its worker died, and otherwise the next due run. A job states that one run waits, and
 * not which one is next. The next run is the oldest of the workspace with the fewest running runs. If several
 * workspaces have equally few, the least recently served one comes first. A long queue of one workspace therefore
 * blocks no other. A workspace with a held lane has no due run. All workspaces of an organisation share the limit of
 * concurrent runs of its plan. A run whose worker died counts too, since it continues. Under a limit of 0 no run
 * begins, and runs that have begun continue one at a time. `null` when no run may be claimed. The job is consumed then,
 * so a waiting run is marked, and `freeRuns` makes it due again.
 */
export async function claimDueRun(tx: Tx, { perWorkspaceMax, ...named }: Claim): Promise<Lease | null> {
  await lockRunChoice(tx);
  if (await isLeft(tx, named.runId)) return claimRun(tx, named);
  const next = await findNextRun(tx, perWorkspaceMax);
  if (next !== null) return claimRun(tx, { ...named, runId: next });
  await markOverLimit(tx, named.runId);
  return null;
}

/** Each choice depends on the running runs and on the lanes, so choices and lane changes are serialised. */
export async function lockRunChoice(tx: Tx): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('the next run', 0))`;
}

/** Whether the worker stopped renewing the lease. */
async function isLeft(tx: Tx, runId: string): Promise<boolean> {
  const updated = await tx.$executeRaw`
    SELECT FROM runs WHERE id = ${runId} AND status = 'running' AND (lease_until IS NULL OR lease_until < now())`;
  return updated === 1;
}

const Found = z.array(z.object({ id: z.string() }));

/**
 * How many more runs the plan of a workspace permits: `fresh` ones, and `begun` ones that return to the queue. No row
 * when the plan has no limit.
 */
function planRoomOf(workspaceId: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    SELECT plan.runs - used.running AS fresh, greatest(plan.runs, 1) - used.running AS begun
      FROM org_workspaces w JOIN entitlements e ON e.org_id = w.org_id
     CROSS JOIN LATERAL (SELECT (e.limits ->> 'concurrent_runs')::bigint AS runs) plan
     CROSS JOIN LATERAL (
       SELECT count(*) AS running FROM org_workspaces o JOIN runs r ON r.workspace_id = o.workspace_id AND r.status = 'running'
        WHERE o.org_id = w.org_id) used
     WHERE w.workspace_id = ${workspaceId} AND plan.runs IS NOT NULL`;
}

const mayRun = Prisma.sql`
  (room.fresh IS NULL OR (CASE WHEN r.started_at IS NULL THEN room.fresh ELSE room.begun END) > 0)`;

async function findNextRun(tx: Tx, perWorkspaceMax: number): Promise<string | null> {
  const rows = await tx.$queryRaw`
    WITH RECURSIVE waiting AS (
      (SELECT workspace_id FROM runs WHERE status = 'queued' AND NOT over_limit ORDER BY workspace_id LIMIT 1)
      UNION ALL
      SELECT (SELECT r.workspace_id FROM runs r
               WHERE r.status = 'queued' AND NOT r.over_limit AND r.workspace_id > waiting.workspace_id
               ORDER BY r.workspace_id LIMIT 1)
        FROM waiting WHERE waiting.workspace_id IS NOT NULL
    ), busy AS (
      SELECT workspace_id, count(*) AS running FROM runs WHERE status = 'running' AND lease_until > now() GROUP BY workspace_id
    )
    SELECT oldest.id FROM waiting LEFT JOIN busy ON busy.workspace_id = waiting.workspace_id
      LEFT JOIN LATERAL (${planRoomOf(Prisma.sql`waiting.workspace_id`)}) room ON true
     CROSS JOIN LATERAL (
       SELECT r.id, r.created_at FROM runs r
        WHERE r.status = 'queued' AND NOT r.over_limit AND r.workspace_id = waiting.workspace_id AND ${mayRun}
        ORDER BY r.created_at, r.id LIMIT 1) oldest
     CROSS JOIN LATERAL (SELECT max(r.started_at) AS at FROM runs r WHERE r.workspace_id = waiting.workspace_id) served
     WHERE coalesce(busy.running, 0) < ${perWorkspaceMax}::int
       AND NOT EXISTS (SELECT FROM workspaces w WHERE w.id = waiting.workspace_id AND w.lane = 'hold')
     ORDER BY coalesce(busy.running, 0), served.at NULLS FIRST, oldest.created_at, oldest.id LIMIT 1`;
  return Found.parse(rows)[0]?.id ?? null;
}

/**
 * Marks the run of the job. If that run does not wait, another waiting run is marked. Then there are as many jobs as
 * unmarked waiting runs.
 */
async function markOverLimit(tx: Tx, runId: string): Promise<void> {
  const marked = await tx.$executeRaw`
    UPDATE runs SET over_limit = true WHERE id = ${runId} AND status = 'queued' AND NOT over_limit`;
  if (marked === 1) return;
  await tx.$executeRaw`
    UPDATE runs SET over_limit = true WHERE id = (
      SELECT id FROM runs WHERE status = 'queued' AND NOT over_limit ORDER BY workspace_id, created_at, id LIMIT 1)`;
}

/** Unmarks as many runs of each workspace as its limits permit, except in held lanes. Each of them needs a job. */
export async function freeRuns(tx: Tx, perWorkspaceMax: number): Promise<LeftRun[]> {
  const rows = await tx.$queryRaw`
    WITH RECURSIVE marked AS (
      (SELECT workspace_id FROM runs WHERE status = 'queued' AND over_limit ORDER BY workspace_id LIMIT 1)
      UNION ALL
      SELECT (SELECT r.workspace_id FROM runs r
               WHERE r.status = 'queued' AND r.over_limit AND r.workspace_id > marked.workspace_id
               ORDER BY r.workspace_id LIMIT 1)
        FROM marked WHERE marked.workspace_id IS NOT NULL
    ), busy AS (
      SELECT workspace_id, count(*) AS running FROM runs WHERE status = 'running' AND lease_until > now() GROUP BY workspace_id
    )
    UPDATE runs SET over_limit = false WHERE status = 'queued' AND over_limit AND id IN (
      SELECT oldest.id FROM marked LEFT JOIN busy ON busy.workspace_id = marked.workspace_id
        LEFT JOIN LATERAL (${planRoomOf(Prisma.sql`marked.workspace_id`)}) room ON true
       CROSS JOIN LATERAL (
         SELECT r.id FROM runs r
          WHERE r.status = 'queued' AND r.over_limit AND r.workspace_id = marked.workspace_id AND ${mayRun}
          ORDER BY r.created_at, r.id
          LIMIT greatest(least(${perWorkspaceMax}::int - coalesce(busy.running, 0), coalesce(room.begun, ${perWorkspaceMax}::int)), 0)) oldest
       WHERE NOT EXISTS (SELECT FROM workspaces w WHERE w.id = marked.workspace_id AND w.lane = 'hold'))
    RETURNING id, workspace_id, task_id, attempts`;
  return leftRuns(rows);
}
