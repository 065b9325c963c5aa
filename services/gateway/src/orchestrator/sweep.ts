import type { Context } from '../context.ts';
import { publishRunEnqueued } from '../events.ts';
import { agentOf } from '../governance/kernel.ts';
import { expireApproval } from '../approvals/expire-approval.ts';
import { findExpired } from '../store/approvals.ts';
import { takeOrphans, type OrphanedRun } from '../store/leases.ts';
import { changeRun } from './conclude-run.ts';

/** A run that takes its worker down so many times without one settled step is given up. */
const attemptsMax = 5;

/** Brings back runs whose worker died, and ends those whose approval ran out. Safe on every replica at once. */
export async function sweep(context: Context): Promise<void> {
  const orphans = await context.transaction(async (tx) => {
    const taken = await takeOrphans(tx, context.config.runs.leaseMs);
    for (const orphan of taken) if (orphan.attempts < attemptsMax) await publishRunEnqueued(tx, context, orphan);
    return taken;
  });
  for (const orphan of orphans) {
    context.log.warn('run.orphaned', { run_id: orphan.runId, attempts: orphan.attempts });
    if (orphan.attempts >= attemptsMax) await giveUp(context, orphan);
  }
  for (const expired of await findExpired(context.database.pool, context.now())) await expireApproval(context, expired);
}

async function giveUp(context: Context, orphan: OrphanedRun): Promise<void> {
  await context.transaction((tx) =>
    changeRun(tx, context, orphan, {
      from: ['running'],
      to: 'failed',
      outcome: null,
      error: { code: 'RUN_ABANDONED', message: 'The workers of this run died again and again.' },
      actor: agentOf(orphan.workspaceId),
    }),
  );
}
