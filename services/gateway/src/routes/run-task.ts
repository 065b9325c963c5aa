import { runTask } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { notFound } from '../guards.ts';
import { handleWorkspace } from '../handle.ts';
import { enqueueRun } from '../orchestrator/enqueue-run.ts';
import { lockTask } from '../store/tasks.ts';

export const runTaskRoute = (context: Context) =>
  handleWorkspace(runTask)(async ({ params, caller, requestId }) => {
    const { workspaceId, session } = caller;
    return context.transaction(async (tx) => {
      const task = await lockTask(tx, workspaceId, params.id);
      if (task === null) throw notFound();
      const { run } = await enqueueRun(tx, context, { task, startedBy: session.user.id, requestId });
      return run;
    });
  });
