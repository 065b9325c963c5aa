import type { Context } from '../context.ts';
import { publishRunEnqueued, publishTaskMoved } from '../events.ts';
import { KernelError } from '../governance/kernel-error.ts';
import { agentOf } from '../governance/kernel.ts';
import { recordAudit } from '../store/audit.ts';
import { claimRun, releaseLease, renewLease, type Lease } from '../store/leases.ts';
import { lockTask, setTaskStatus } from '../store/tasks.ts';
import { advanceRun } from './advance-run.ts';
import { stillOurs } from './begin-step.ts';

/**
 * Works on one run until it ends, parks, or belongs to somebody else. Returns at once when the run is not due. Every step is
 * committed before it is dispatched, so killing the process at any point loses and repeats nothing.
 */
export async function workOnRun(context: Context, runId: string, stopping: AbortSignal): Promise<void> {
  const { leaseMs, workerName } = context.config.runs;
  const lease = await claimRun(context.database.pool, { runId, owner: workerName, leaseMs });
  if (lease === null) return;
  const heart = keepLease(context, lease, stopping);
  try {
    await showRunning(context, lease);
    while (!heart.signal.aborted && (await advanceRun(context, lease, heart.signal)) === 'moved') continue;
  } catch (error) {
    if (!(error instanceof KernelError && error.kind === 'interrupted')) throw error;
  } finally {
    heart.stop();
  }
  if (stopping.aborted) await giveBack(context, lease);
}

/** Renews the lease three times per its life; aborts when it is lost or the process stops. */
function keepLease(context: Context, lease: Lease, stopping: AbortSignal): { signal: AbortSignal; stop(): void } {
  const { leaseMs } = context.config.runs;
  const lost = new AbortController();
  const timer = setInterval(() => {
    renewLease(context.database.pool, lease, leaseMs).then(
      (renewed) => {
        if (!renewed) lost.abort();
      },
      // The database does not answer: the lease runs out by itself if this goes on.
      (error: unknown) => context.log.warn('run.lease_not_renewed', { run_id: lease.runId, error }),
    );
  }, leaseMs / 3);
  return { signal: AbortSignal.any([lost.signal, stopping]), stop: () => clearInterval(timer) };
}

async function showRunning(context: Context, lease: Lease): Promise<void> {
  await context.transaction(async (tx) => {
    if (!(await stillOurs(tx, lease))) return;
    const task = await lockTask(tx, lease.workspaceId, lease.taskId);
    if (task === null || task.status === 'running') return;
    const now = context.now();
    await setTaskStatus(tx, task.id, 'running', now);
    await publishTaskMoved(tx, context, { ...lease, from: task.status, to: 'running' });
    const actor = agentOf(lease.workspaceId);
    await recordAudit(
      tx,
      { workspaceId: lease.workspaceId, action: 'run.running', actor, verdict: 'allow', subject: lease.runId },
      now,
    );
  });
}

/** A worker that stops in good order does not make the run wait for its lease to end. */
async function giveBack(context: Context, lease: Lease): Promise<void> {
  await context.transaction(async (tx) => {
    if (await releaseLease(tx, lease)) await publishRunEnqueued(tx, context, lease);
  });
}
