import { startRun } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { notFound } from '../../not-found.ts';
import { handleAct } from '../../handle.ts';
import { enqueueRun } from '../../orchestrator/enqueue-run.ts';
import { lockTask } from '../../store/tasks.ts';
import { makeTask } from '../../tasks/make-task.ts';

export const startRunRoute = (context: Context) =>
  handleAct(context)(startRun)(async (tx, { body, caller, requestId }) => {
    const { taskId = '', title, description = '' } = body;
    const task =
      title === undefined
        ? await lockTask(tx, caller.workspaceId, taskId)
        : await makeTask(tx, context, { title, description, caller, requestId });
    if (task === null) throw notFound();
    const { run } = await enqueueRun(tx, context, { task, startedBy: caller.user.id, actor: caller.actor, requestId });
    return run;
  });
