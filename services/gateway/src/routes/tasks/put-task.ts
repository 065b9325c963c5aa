import { putTask } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { changeTask } from '../../tasks/change-task.ts';

export const putTaskRoute = (context: Context) =>
  handleWorkspace(putTask)(({ params, body: { title, description }, caller, requestId }) =>
    changeTask(context, { taskId: params.id, title, description, caller, requestId }),
  );
