import { listTasks } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import type { Handles } from '../handle.ts';
import { listTasksOf } from '../store/tasks.ts';

export const listTasksRoute = ({ database }: Context, { forWorkspace }: Handles) =>
  forWorkspace(listTasks, ({ caller, query }) => listTasksOf(database.pool, caller.workspaceId, query));
