import { getTask } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { notFound } from '../../not-found.ts';
import { handleWorkspace } from '../../handle.ts';
import { findTask } from '../../store/tasks.ts';

export const getTaskRoute = ({ database }: Context) =>
  handleWorkspace(getTask)(async ({ params, caller: { workspaceId } }) => {
    const task = await findTask(database.reader, workspaceId, params.id);
    if (task === null) throw notFound();
    return task;
  });
