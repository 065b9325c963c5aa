import { createConsoleTask } from '@countersign/contracts/control-plane';
import { createTask } from '@countersign/contracts/gateway';
import { answer } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { taskView } from '../../runs/task-view.ts';
import { keyedAnswerOf, keyHeaders } from '../../siblings/answer-of.ts';

/** The gateway stores the Idempotency-Key in the transaction that creates the task. */
export const createConsoleTaskRoute = ({ gateway }: Context) =>
  handleWorkspace(createConsoleTask, { idempotency: 'handler' })(async ({ body, caller, idempotency, signal }) => {
    const { body: task, replayed } = await keyedAnswerOf('gateway', () =>
      gateway.as(caller.delegation, { createTask }).createTask({
        query: { workspaceId: caller.workspaceId },
        body,
        headers: keyHeaders(idempotency),
        signal,
      }),
    );
    return answer(createConsoleTask.status, taskView(task), replayed);
  });
