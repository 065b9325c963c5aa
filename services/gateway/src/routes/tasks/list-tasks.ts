import { listTasks } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { listTasksOf } from '../../store/tasks.ts';

export const listTasksRoute = ({ database }: Context) =>
  handleWorkspace(listTasks)(({ caller, query }) => listTasksOf(database.reader, caller.workspaceId, query));
