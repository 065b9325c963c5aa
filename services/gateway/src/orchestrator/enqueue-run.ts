import { AppError } from '@countersign/contracts';
import { databaseClock } from '@countersign/database';
import type { Run, Task } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { publishTaskQueued } from '../events.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { mayBeginNoRun } from '../store/entitlements.ts';
import { recordEvidence } from '../store/evidence.ts';
import { insertRun } from '../store/runs.ts';
import { setTaskStatus } from '../store/tasks.ts';
import { getSettings } from '../store/workspaces.ts';
import { allowedMoves, mayMove } from '../tasks/task-moves.ts';

/** Throws ILLEGAL_TRANSITION unless people may move the task to this status. The error names the permitted moves. */
export function assertMayMove(task: Task, to: Task['status']): void {
  if (mayMove(task.status, to)) return;
  throw new AppError('ILLEGAL_TRANSITION', `A task that is ${task.status} cannot become ${to}`, {
    param: 'status',
    details: { status: task.status, allowed: [...allowedMoves(task.status)] },
  });
}

/** The real clock of the database. The guard compares it with the clock of the machine, which tests do not move. */
const unmoved = databaseClock();

/**
 * Makes one run of a locked task due. Run, task, audit, evidence and job are committed together. No run begins while
 * the clock is wrong. Throws LIMIT_REACHED when the plan permits no runs. Above any other limit, the run waits in the
 * queue.
 */
export async function enqueueRun(
  tx: Tx,
  context: Context,
  request: { task: Task; startedBy: string; actor: string; requestId: string },
): Promise<{ run: Run; task: Task }> {
  const { task, startedBy, actor, requestId } = request;
  assertMayMove(task, 'queued');
  if (await mayBeginNoRun(tx, task.workspaceId)) throw noNewRun();
  await context.clockGuard.assertNear(async () => (await unmoved(tx)).getTime());
  const now = context.now();
  const { settings } = await getSettings(tx, task.workspaceId);
  const place = { workspaceId: task.workspaceId, taskId: task.id };
  const run = await insertRun(
    tx,
    {
      ...place,
      startedBy,
      iterationBudget: settings.policyConfig.maxIterationBudget,
      currency: settings.budgetConfig.currency,
    },
    now,
  );
  const queued = await setTaskStatus(tx, task.id, 'queued', now);
  await publishTaskQueued(tx, context, { ...place, runId: run.id, from: task.status });
  const content = { title: task.title, description: task.description };
  const metadata = { iterationBudget: run.iterationBudget };
  await recordEvidence(tx, { ...place, runId: run.id, kind: 'run_enqueued', content, metadata }, now);
  await recordAudit(
    tx,
    {
      workspaceId: task.workspaceId,
      action: 'run.enqueued',
      actor,
      verdict: 'allow',
      subject: run.id,
      details: { taskId: task.id },
      requestId,
    },
    now,
  );
  return { run, task: queued };
}

function noNewRun(): AppError {
  const message =
    'The organisation is suspended or has not paid, so no new run starts. Runs that have begun continue. Ask the administrator of the organisation for help';
  return new AppError('LIMIT_REACHED', message, { details: { name: 'concurrent_runs', limit: 0 } });
}
