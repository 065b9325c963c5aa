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
 * Takes an open step of a run that has ended, whose worker will not settle it any more because its lease is over. A worker that
 * is late all the same is shut out by the fence, so the step is settled once. Null when there is none.
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
  // Asked again under the lock of the run: the worker may have settled it in this moment.
  const step = await tx.runStep.findFirst({ where: { runId: run.id, state: 'submitted' } });
  if (step === null) return null;
  const { id, workspaceId, runId, kind, tool } = step;
  return { id, workspaceId, runId, kind, tool };
}
