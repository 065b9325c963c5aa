import type { GovernedOutcome, RunStatus } from '@countersign/contracts/gateway';
import type { Sql } from './sql.ts';

export type Progress = { iterations: number; tokensIn: number; tokensOut: number; costMicros: number };

export async function addProgress(tx: Sql, runId: string, progress: Progress): Promise<void> {
  await tx.query(
    `UPDATE runs SET iterations_used = iterations_used + $2, tokens_in = tokens_in + $3, tokens_out = tokens_out + $4,
            cost_micros = cost_micros + $5, attempts = 0 WHERE id = $1`,
    [runId, progress.iterations, progress.tokensIn, progress.tokensOut, progress.costMicros],
  );
}

export type RunMove = {
  from: readonly RunStatus[];
  to: RunStatus;
  outcome?: GovernedOutcome | null;
  result?: string | null;
  error?: { code: string; message: string } | null;
};

const finalStatuses: readonly RunStatus[] = ['completed', 'failed', 'denied', 'budget_exhausted', 'cancelled'];

/**
 * Compare-and-set: false when the run is not in one of the `from` statuses any more. The lease of a run that ends is left to run
 * out, because until then its worker may still write down what became of the open step.
 */
export async function moveRun(tx: Sql, runId: string, move: RunMove, now: Date): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE runs SET status = $3, outcome = coalesce($4, outcome), result = coalesce($5, result), error_code = $6,
            error_message = $7, ended_at = $8::timestamptz, lease_owner = NULL,
            lease_until = CASE WHEN $8::timestamptz IS NOT NULL THEN lease_until END
      WHERE id = $1 AND status = ANY($2)`,
    [
      runId,
      [...move.from],
      move.to,
      move.outcome ?? null,
      move.result ?? null,
      move.error?.code ?? null,
      move.error?.message ?? null,
      finalStatuses.includes(move.to) ? now : null,
    ],
  );
  return rowCount === 1;
}
