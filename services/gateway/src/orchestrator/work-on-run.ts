import { agentOf } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { publishRunEnqueued, publishTaskMoved } from '../events.ts';
import { KernelError } from '../governance/kernel-error.ts';
import type { GovernedTool } from '../governance/kernel.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { claimDueRun, freeRuns } from '../store/due-runs.ts';
import { releaseLease, renewLease, type Lease } from '../store/leases.ts';
import { findTask, setTaskStatus } from '../store/tasks.ts';
import { advanceRun } from './advance-run.ts';
import { stillOurs } from './begin-step.ts';
import { notConfigured } from './submit-step.ts';

/** Works on the run that is due when a job comes, which the job may not name, and then lets the next runs of its workspace be due. */
export async function workOnDueRun(context: Context, runId: string, stopping: AbortSignal): Promise<void> {
  const { leaseMs, workerName: owner, perWorkspaceMax } = context.config.runs;
  await workOnRun(context, (tx) => claimDueRun(tx, { runId, owner, leaseMs, perWorkspaceMax }), stopping);
  await bringBackFreed(context);
}

/** Makes jobs for runs that waited until their workspace had room. */
export async function bringBackFreed(context: Context): Promise<void> {
  await context.transaction(async (tx) => {
    for (const run of await freeRuns(tx, context.config.runs.perWorkspaceMax))
      await publishRunEnqueued(tx, context, run);
  });
}

/**
 * Works on the claimed run until it ends, parks, belongs to another worker, or the clock of this gateway is found far off. Returns at once when no run was claimed. Every step is
 * committed before it is submitted, so killing the process at any point loses and repeats nothing.
 */
export async function workOnRun(
  context: Context,
  claim: (tx: Tx) => Promise<Lease | null>,
  stopping: AbortSignal,
): Promise<void> {
  const lease = await context.database.transaction(claim);
  if (lease === null) return;
  const heart = keepLease(context, lease, stopping);
  try {
    await showRunning(context, lease);
    const hold = { signal: heart.signal, listTools: listOnce(context, lease, heart.signal), settled: [] };
    const mayGoOn = async () => !heart.signal.aborted && (await context.clockGuard.isNear());
    while ((await mayGoOn()) && (await advanceRun(context, lease, hold)) === 'moved') continue;
  } catch (error) {
    if (!(error instanceof KernelError && error.kind === 'interrupted')) throw error;
  } finally {
    heart.stop();
  }
  if (stopping.aborted || !(await context.clockGuard.isNear())) await giveBack(context, lease);
}

/**
 * The tools are asked for when the first call of a model needs them. The rights of each are judged when it is called.
 */
function listOnce({ kernel }: Context, lease: Lease, signal: AbortSignal): () => Promise<GovernedTool[]> {
  let listed: Promise<GovernedTool[]> | null = null;
  return async () => {
    if (kernel === null) throw notConfigured;
    return (listed ??= kernel.listTools(lease, signal));
  };
}

/** Renews the lease three times per its life; aborts when it is lost or the process stops. */
function keepLease(context: Context, lease: Lease, stopping: AbortSignal): { signal: AbortSignal; stop(): void } {
  const { leaseMs } = context.config.runs;
  const lost = new AbortController();
  const timer = setInterval(() => {
    context.database
      .transaction((tx) => renewLease(tx, lease, leaseMs))
      .then(
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
    const task = await findTask(tx, lease.workspaceId, lease.taskId);
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

/** A worker that stops in good order, or may not go on, does not make the run wait for its lease to end. */
async function giveBack(context: Context, lease: Lease): Promise<void> {
  await context.transaction(async (tx) => {
    if (await releaseLease(tx, lease)) await publishRunEnqueued(tx, context, lease);
  });
}
