import { createConsoleRun } from '@countersign/contracts/control-plane';
import { startRun } from '@countersign/contracts/gateway';
import { answer } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { runWithStepsView } from '../../runs/run-view.ts';
import { keyedAnswerOf, keyHeaders } from '../../siblings/answer-of.ts';

/** The gateway stores the Idempotency-Key in the transaction that creates task and run. */
export const createConsoleRunRoute = ({ gateway }: Context) =>
  handleWorkspace(createConsoleRun, { idempotency: 'handler' })(async ({ body, caller, idempotency, signal }) => {
    const { task_id, title, description } = body;
    const task = task_id === undefined ? { title, description } : { taskId: task_id };
    const { body: run, replayed } = await keyedAnswerOf('gateway', () =>
      gateway.as(caller.delegation, { startRun }).startRun({
        query: { workspaceId: caller.workspaceId },
        body: task,
        headers: keyHeaders(idempotency),
        signal,
      }),
    );
    return answer(createConsoleRun.status, runWithStepsView(run), replayed);
  });
