import { listConsoleTasks } from '@countersign/contracts/control-plane';
import { listTasks } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { taskView } from '../../runs/task-view.ts';
import { answerOf } from '../../siblings/answer-of.ts';

export const listConsoleTasksRoute = ({ gateway }: Context) =>
  handleWorkspace(listConsoleTasks)(async ({ caller, query, signal }) => {
    const asPerson = gateway.as(caller.delegation, { listTasks });
    const input = { query: { ...query, workspaceId: caller.workspaceId }, signal };
    const { data, nextCursor } = await answerOf('gateway', () => asPerson.listTasks(input));
    return { data: data.map(taskView), next_cursor: nextCursor };
  });
