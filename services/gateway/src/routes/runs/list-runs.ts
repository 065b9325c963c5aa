import { listRuns } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { notFound } from '../../not-found.ts';
import { handleWorkspace } from '../../handle.ts';
import { listRunsOf } from '../../store/runs.ts';
import { findTask } from '../../store/tasks.ts';

export const listRunsRoute = ({ database }: Context) =>
  handleWorkspace(listRuns)(async ({ params, query, caller: { workspaceId } }) => {
    const task = await findTask(database.reader, workspaceId, params.id);
    if (task === null) throw notFound();
    return listRunsOf(database.reader, { workspaceId, taskId: task.id }, query);
  });
