import { createTask } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleAct } from '../../handle.ts';
import { makeTask } from '../../tasks/make-task.ts';

export const createTaskRoute = (context: Context) =>
  handleAct(context)(createTask)((tx, { body: { title, description }, caller, requestId }) =>
    makeTask(tx, context, { title, description, caller, requestId }),
  );
