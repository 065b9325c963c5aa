import { deleteTask } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { removeTask } from '../../tasks/change-task.ts';

export const deleteTaskRoute = (context: Context) =>
  handleWorkspace(deleteTask)(async ({ params, caller, requestId }) => {
    await removeTask(context, { taskId: params.id, caller, requestId });
    return { ok: true as const };
  });
