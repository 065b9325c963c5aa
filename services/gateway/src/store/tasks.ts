import { instantOrNull, instantOf, TaskId, UserId, WorkspaceId } from '@countersign/contracts';
import { TaskStatus, type Task } from '@countersign/contracts/gateway';
import type { TaskModel } from '../generated/prisma/models.ts';
import { newId } from '../ids.ts';
import type { Reader, Tx } from './database.ts';
import { olderThan, pageOf, type Page, type PageRequest } from './page.ts';

type NewTask = { workspaceId: string; title: string; description: string; createdBy: string };

export async function insertTask(
  tx: Tx,
  { workspaceId, title, description, createdBy }: NewTask,
  now: Date,
): Promise<Task> {
  const content = { workspaceId, title, description, createdBy };
  const data = { id: newId('tsk'), ...content, status: 'pending', createdAt: now, updatedAt: now };
  return taskOf(await tx.task.create({ data }));
}

export async function findTask(reader: Reader, workspaceId: string, taskId: string): Promise<Task | null> {
  if (!TaskId.safeParse(taskId).success) return null;
  const row = await reader.task.findUnique({ where: { id: taskId, workspaceId, deletedAt: null } });
  return row === null ? null : taskOf(row);
}

/** Like findTask, with a lock on the task until the transaction ends. */
export async function lockTask(tx: Tx, workspaceId: string, taskId: string): Promise<Task | null> {
  if (!TaskId.safeParse(taskId).success) return null;
  const [row] = await tx.$queryRaw<Omit<TaskModel, 'deletedAt'>[]>`
    SELECT id, workspace_id AS "workspaceId", title, description, status, created_by AS "createdBy",
           created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt"
      FROM tasks WHERE workspace_id = ${workspaceId} AND id = ${taskId} AND deleted_at IS NULL FOR UPDATE`;
  return row === undefined ? null : taskOf(row);
}

/** Locks the task until the transaction ends, without reading it. */
export async function holdTask(tx: Tx, workspaceId: string, taskId: string): Promise<void> {
  await tx.$executeRaw`SELECT FROM tasks WHERE workspace_id = ${workspaceId} AND id = ${taskId} FOR UPDATE`;
}

export async function setTaskWords(
  tx: Tx,
  task: { id: string; title: string; description: string },
  now: Date,
): Promise<Task> {
  const { id, title, description } = task;
  return taskOf(await tx.task.update({ where: { id }, data: { title, description, updatedAt: now } }));
}

/** Marks a task as deleted, so that it is no longer found. */
export async function markTaskDeleted(tx: Tx, id: string, now: Date): Promise<void> {
  await tx.task.update({ where: { id }, data: { deletedAt: now, updatedAt: now } });
}

export async function setTaskStatus(tx: Tx, taskId: string, status: TaskStatus, now: Date): Promise<Task> {
  const data = { status, updatedAt: now, completedAt: status === 'completed' ? now : null };
  return taskOf(await tx.task.update({ where: { id: taskId }, data }));
}

export async function listTasksOf(
  reader: Reader,
  workspaceId: string,
  request: PageRequest & { status?: TaskStatus | undefined },
): Promise<Page<Task>> {
  const rows = await reader.task.findMany({
    where: {
      workspaceId,
      deletedAt: null,
      id: olderThan(request),
      ...(request.status !== undefined && { status: request.status }),
    },
    orderBy: { id: 'desc' },
    take: request.limit + 1,
  });
  return pageOf(rows, request, { item: taskOf, key: (row) => row.id });
}

function taskOf(row: Omit<TaskModel, 'deletedAt'>): Task {
  return {
    id: TaskId.parse(row.id),
    workspaceId: WorkspaceId.parse(row.workspaceId),
    title: row.title,
    description: row.description,
    status: TaskStatus.parse(row.status),
    createdBy: UserId.parse(row.createdBy),
    createdAt: instantOf(row.createdAt),
    updatedAt: instantOf(row.updatedAt),
    completedAt: instantOrNull(row.completedAt),
  };
}
