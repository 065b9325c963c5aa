import { RunId, TaskId, WorkspaceId } from '@countersign/contracts';
import { runEnded, runEnqueued, taskMoved, type RunStatus, type TaskStatus } from '@countersign/contracts/gateway';
import { recordEvents } from '@countersign/messaging';
import type { Context } from './context.ts';
import type { Sql } from './store/sql.ts';

type RunPlace = { workspaceId: string; taskId: string; runId: string };

function dataOf(place: RunPlace) {
  return {
    workspaceId: WorkspaceId.parse(place.workspaceId),
    taskId: TaskId.parse(place.taskId),
    runId: RunId.parse(place.runId),
  };
}

/** The orchestrator's job, in the transaction that made it due. */
export async function publishRunEnqueued(tx: Sql, context: Context, place: RunPlace): Promise<void> {
  await recordEvents(tx, [context.newEvent(runEnqueued, dataOf(place), { tenantid: place.workspaceId })]);
}

export async function publishRunEnded(
  tx: Sql,
  context: Context,
  place: RunPlace & { status: RunStatus },
): Promise<void> {
  const data = { ...dataOf(place), status: place.status };
  await recordEvents(tx, [context.newEvent(runEnded, data, { tenantid: place.workspaceId })]);
}

export async function publishTaskMoved(
  tx: Sql,
  context: Context,
  move: { workspaceId: string; taskId: string; from: TaskStatus; to: TaskStatus },
): Promise<void> {
  const data = {
    workspaceId: WorkspaceId.parse(move.workspaceId),
    taskId: TaskId.parse(move.taskId),
    from: move.from,
    to: move.to,
  };
  await recordEvents(tx, [context.newEvent(taskMoved, data, { tenantid: move.workspaceId })]);
}
