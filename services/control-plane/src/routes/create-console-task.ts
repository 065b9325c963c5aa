import { createConsoleTask } from '@countersign/contracts/control-plane';
import { createTask } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { handleWorkspace } from '../handle.ts';
import { taskView } from '../runs/task-view.ts';
import { answerOf } from '../siblings/answer-of.ts';

/** The gateway keeps the Idempotency-Key, in the transaction that makes the task. */
export const createConsoleTaskRoute = ({ gateway }: Context) =>
  handleWorkspace(createConsoleTask, { idempotency: 'handler' })(async ({ body, caller, idempotency, signal }) => {
    const task = await answerOf('gateway', () =>
      gateway.as(caller.delegation, { createTask }).createTask({
        query: { workspaceId: caller.workspaceId },
        body,
        headers: idempotency === null ? {} : { 'idempotency-key': idempotency.key },
        signal,
      }),
    );
    return taskView(task);
  });
