import { listRuns } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { notFound, type Handles } from '../handle.ts';
import { listRunsOf } from '../store/runs.ts';
import { findTask } from '../store/tasks.ts';

export const listRunsRoute = ({ database }: Context, { forWorkspace }: Handles) =>
  forWorkspace(listRuns, async ({ params, query, caller: { workspaceId } }) => {
    const task = await findTask(database.pool, workspaceId, params.id);
    if (task === null) throw notFound();
    return listRunsOf(database.pool, { workspaceId, taskId: task.id }, query);
  });
