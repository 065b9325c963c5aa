import type { Sql } from './sql.ts';

export type LeftStep = {
  id: string;
  workspaceId: string;
  runId: string;
  kind: string;
  tool: string | null;
  reservedMicros: number;
  reservedMonth: string | null;
};

type LeftStepRow = {
  id: string;
  workspace_id: string;
  run_id: string;
  kind: string;
  tool: string | null;
  reserved_micros: string;
  reserved_month: string | null;
};

/**
 * Takes an open step of a run that has ended, whose worker will not settle it any more because its lease is over. A worker that
 * is late all the same is shut out by the fence, so the step is settled once. Null when there is none.
 */
export async function takeLeftStep(tx: Sql): Promise<LeftStep | null> {
  const { rows: runs } = await tx.query<{ id: string }>(
    `UPDATE runs SET lease_fence = lease_fence + 1 WHERE id = (
       SELECT runs.id FROM runs JOIN run_steps ON run_steps.run_id = runs.id
        WHERE run_steps.state = 'dispatched' AND runs.ended_at IS NOT NULL
          AND (runs.lease_until IS NULL OR runs.lease_until < now())
        LIMIT 1 FOR UPDATE OF runs SKIP LOCKED)
     RETURNING id`,
  );
  // Asked again under the lock: the worker may have settled it in this moment.
  const { rows } = await tx.query<LeftStepRow>(
    `SELECT * FROM run_steps WHERE run_id = $1 AND state = 'dispatched' FOR UPDATE`,
    [runs[0]?.id ?? null],
  );
  const [row] = rows;
  if (row === undefined) return null;
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    runId: row.run_id,
    kind: row.kind,
    tool: row.tool,
    reservedMicros: Number(row.reserved_micros),
    reservedMonth: row.reserved_month,
  };
}
