import type { GovernedOutcome, RunStatus } from '@countersign/contracts/gateway';
import type { Tx } from './database.ts';

type Progress = { iterations: number; tokensIn: number; tokensOut: number; costMicros: bigint };

export async function addProgress(tx: Tx, runId: string, progress: Progress): Promise<void> {
  await tx.run.update({
    where: { id: runId },
    data: {
      iterationsUsed: { increment: progress.iterations },
      tokensIn: { increment: progress.tokensIn },
      tokensOut: { increment: progress.tokensOut },
      costMicros: { increment: progress.costMicros },
      attempts: 0,
    },
  });
}

type RunMove = {
  from: readonly RunStatus[];
  to: RunStatus;
  outcome?: GovernedOutcome | null;
  result?: string | null;
  error?: { code: string; message: string } | null;
};

const finalStatuses: readonly RunStatus[] = ['completed', 'failed', 'denied', 'budget_exhausted', 'cancelled'];

/**
 * Compare-and-set: `false` when the status of the run is no longer in `from`. The lease of an ended run expires by
 * itself, because its worker may still record the result of the open step until then.
 */
export async function moveRun(tx: Tx, runId: string, move: RunMove, now: Date): Promise<boolean> {
  const { from, to, outcome = null, result = null, error = null } = move;
  const ending = finalStatuses.includes(to) ? { endedAt: now } : { endedAt: null, leaseUntil: null };
  const { count } = await tx.run.updateMany({
    where: { id: runId, status: { in: [...from] } },
    data: {
      status: to,
      // Without an outcome, the outcome of an earlier move stays.
      ...(outcome !== null && { outcome }),
      ...(result !== null && { result }),
      errorCode: error?.code ?? null,
      errorMessage: error?.message ?? null,
      leaseOwner: null,
      ...ending,
    },
  });
  return count === 1;
}
