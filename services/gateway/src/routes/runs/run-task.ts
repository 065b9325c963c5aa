import { runTask } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { notFound } from '../../not-found.ts';
import { handleAct } from '../../handle.ts';
import { enqueueRun } from '../../orchestrator/enqueue-run.ts';
import { lockTask } from '../../store/tasks.ts';

export const runTaskRoute = (context: Context) =>
  handleAct(context)(runTask)(async (tx, { params, caller, requestId }) => {
    const { workspaceId, user, actor } = caller;
    const task = await lockTask(tx, workspaceId, params.id);
    if (task === null) throw notFound();
    const { run } = await enqueueRun(tx, context, { task, startedBy: user.id, actor, requestId });
    return run;
  });
