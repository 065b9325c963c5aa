import { agentOf } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { publishRunEnqueued, publishTaskMoved } from '../events.ts';
import { KernelError, notConfigured } from '../governance/kernel-error.ts';
import type { GovernedTool } from '../governance/kernel.ts';
import { bringBackFreed } from '../lanes/bring-back-freed.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { claimDueRun } from '../store/due-runs.ts';
import { releaseLease, renewLease, type Lease } from '../store/leases.ts';
import { findTask, setTaskStatus } from '../store/tasks.ts';
import { advanceRun } from './advance-run.ts';
import { stillOurs } from './begin-step.ts';

/**
 * Works on the next due run when a job arrives. That run may differ from the run of the job. Then makes waiting runs
 * due in the workspaces that have room for them.
 */
export async function workOnDueRun(context: Context, runId: string, stopping: AbortSignal): Promise<void> {
  const { leaseMs, workerName: owner, perWorkspaceMax } = context.config.runs;
  await workOnRun(context, (tx) => claimDueRun(tx, { runId, owner, leaseMs, perWorkspaceMax }), stopping);
  await bringBackFreed(context);
}

/**
 * Works on the claimed run until it ends, parks, waits for its lane, or belongs to another worker. Also stops when the
 * clock of this gateway is wrong. Returns at once when no run was claimed. Every step is committed before it is
 * submitted, so a kill at any point loses and repeats nothing.
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

/** The tools are listed when a model call first needs them. Rights are judged for each call. */
function listOnce({ kernel }: Context, lease: Lease, signal: AbortSignal): () => Promise<GovernedTool[]> {
  let listed: Promise<GovernedTool[]> | null = null;
  return async () => {
    if (kernel === null) throw notConfigured;
    return (listed ??= kernel.listTools(lease, signal));
  };
}

/** Renews the lease three times per lease period. The signal aborts when the lease is lost or the process stops. */
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
        // The database does not answer. If this continues, the lease expires.
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

/** A worker that stops in an orderly way returns the run at once, so the run need not wait for the end of the lease. */
async function giveBack(context: Context, lease: Lease): Promise<void> {
  await context.transaction(async (tx) => {
    if (await releaseLease(tx, lease)) await publishRunEnqueued(tx, context, lease);
  });
}
