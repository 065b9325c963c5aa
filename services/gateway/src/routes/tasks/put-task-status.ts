import { putTaskStatus, type Run, type Task } from '@countersign/contracts/gateway';
import { answer } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { publishTaskMoved } from '../../events.ts';
import { notFound } from '../../not-found.ts';
import { handleWorkspace } from '../../handle.ts';
import { changeRun } from '../../run-moves/change-run.ts';
import { assertMayMove, enqueueRun } from '../../orchestrator/enqueue-run.ts';
import { recordAudit } from '../../store/audit.ts';
import type { Tx } from '../../store/database.ts';
import { findLiveRunId } from '../../store/runs.ts';
import { findTask, lockTask, setTaskStatus } from '../../store/tasks.ts';

export const putTaskStatusRoute = (context: Context) =>
  handleWorkspace(putTaskStatus)(async ({ body: { status }, params, caller, requestId }) => {
    const { workspaceId, user, actor } = caller;
    const moved = await context.transaction(async (tx) => {
      const task = await lockTask(tx, workspaceId, params.id);
      if (task === null) throw notFound();
      assertMayMove(task, status);
      const by = { actor, requestId };
      if (status !== 'queued') return { task: await cancel(tx, context, task, by), run: null };
      return enqueueRun(tx, context, { task, startedBy: user.id, ...by });
    });
    return answer(moved.run === null ? 200 : 202, replyOf(moved));
  });

function replyOf({ task, run }: { task: Task; run: Run | null }): Task & { run: Run | null } {
  return { ...task, run };
}

/**
 * Cancels a task, and its live run if there is one. Cancelling and queueing are the only moves that people can make.
 */
async function cancel(tx: Tx, context: Context, task: Task, by: { actor: string; requestId: string }): Promise<Task> {
  const now = context.now();
  const runId = await findLiveRunId(tx, task.id);
  if (runId !== null) {
    const place = { workspaceId: task.workspaceId, taskId: task.id, runId };
    await changeRun(tx, context, place, {
      from: ['queued', 'running', 'awaiting_approval'],
      to: 'cancelled',
      outcome: null,
      ...by,
    });
    return (await findTask(tx, task.workspaceId, task.id)) ?? task;
  }
  const cancelled = await setTaskStatus(tx, task.id, 'cancelled', now);
  await publishTaskMoved(tx, context, {
    workspaceId: task.workspaceId,
    taskId: task.id,
    from: task.status,
    to: 'cancelled',
  });
  const event = {
    workspaceId: task.workspaceId,
    action: 'task.cancelled',
    verdict: 'allow',
    subject: task.id,
  } as const;
  await recordAudit(tx, { ...event, ...by }, now);
  return cancelled;
}
