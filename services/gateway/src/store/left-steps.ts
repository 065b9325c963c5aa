import { z } from 'zod';
import type { Tx } from './database.ts';

export type LeftStep = {
  id: string;
  workspaceId: string;
  runId: string;
  kind: string;
  tool: string | null;
};

const Taken = z.array(z.object({ id: z.string() }));

/**
 * Claims an open step of an ended run whose worker no longer has a lease. The fence excludes a late worker, so the
 * step is settled once. `null` when there is none.
 */
export async function takeLeftStep(tx: Tx): Promise<LeftStep | null> {
  const rows = await tx.$queryRaw`
    UPDATE runs SET lease_fence = lease_fence + 1 WHERE id = (
      SELECT runs.id FROM runs JOIN run_steps ON run_steps.run_id = runs.id
       WHERE run_steps.state = 'submitted' AND runs.ended_at IS NOT NULL
         AND (runs.lease_until IS NULL OR runs.lease_until < now())
       LIMIT 1 FOR UPDATE OF runs SKIP LOCKED)
    RETURNING id`;
  const [run] = Taken.parse(rows);
  if (run === undefined) return null;
  // Read again under the lock of the run, since the worker may just have settled it.
  const step = await tx.runStep.findFirst({ where: { runId: run.id, state: 'submitted' } });
  if (step === null) return null;
  const { id, workspaceId, runId, kind, tool } = step;
  return { id, workspaceId, runId, kind, tool };
}
