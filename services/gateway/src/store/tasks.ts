import { TaskId, UserId, WorkspaceId } from '@countersign/contracts';
import { TaskStatus, type Task } from '@countersign/contracts/gateway';
import { newId } from '../ids.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import { instant, instantOrNull, onlyRow, type Sql } from './sql.ts';

type TaskRow = {
  id: string;
  workspace_id: string;
  title: string;
  description: string;
  status: string;
  created_by: string;
  created_at: Date;
  updated_at: Date;
  completed_at: Date | null;
};

export type NewTask = { workspaceId: string; title: string; description: string; createdBy: string };

export async function insertTask(tx: Sql, task: NewTask, now: Date): Promise<Task> {
  const { rows } = await tx.query<TaskRow>(
    `INSERT INTO tasks (id, workspace_id, title, description, status, created_by, created_at, updated_at)
     VALUES ($1, $2, $3, $4, 'pending', $5, $6, $6) RETURNING *`,
    [newId('tsk'), task.workspaceId, task.title, task.description, task.createdBy, now],
  );
  return taskOf(onlyRow(rows));
}

export async function findTask(sql: Sql, workspaceId: string, taskId: string): Promise<Task | null> {
  if (!TaskId.safeParse(taskId).success) return null;
  const { rows } = await sql.query<TaskRow>('SELECT * FROM tasks WHERE workspace_id = $1 AND id = $2', [
    workspaceId,
    taskId,
  ]);
  const [row] = rows;
  return row === undefined ? null : taskOf(row);
}

/** As findTask, and nobody else moves the task until the transaction ends. */
export async function lockTask(tx: Sql, workspaceId: string, taskId: string): Promise<Task | null> {
  if (!TaskId.safeParse(taskId).success) return null;
  const { rows } = await tx.query<TaskRow>('SELECT * FROM tasks WHERE workspace_id = $1 AND id = $2 FOR UPDATE', [
    workspaceId,
    taskId,
  ]);
  const [row] = rows;
  return row === undefined ? null : taskOf(row);
}

export async function setTaskStatus(tx: Sql, taskId: string, status: TaskStatus, now: Date): Promise<Task> {
  const { rows } = await tx.query<TaskRow>(
    `UPDATE tasks SET status = $2, updated_at = $3, completed_at = CASE WHEN $2 = 'completed' THEN $3::timestamptz END
      WHERE id = $1 RETURNING *`,
    [taskId, status, now],
  );
  return taskOf(onlyRow(rows));
}

export async function listTasksOf(
  sql: Sql,
  workspaceId: string,
  request: PageRequest & { status?: TaskStatus | undefined },
): Promise<Page<Task>> {
  const { rows } = await sql.query<TaskRow>(
    `SELECT * FROM tasks WHERE workspace_id = $1 AND ($2::text IS NULL OR id < $2) AND ($3::text IS NULL OR status = $3)
      ORDER BY id DESC LIMIT $4`,
    [workspaceId, pageStart(request), request.status ?? null, request.limit + 1],
  );
  return pageOf(rows, request, { item: taskOf, key: (row) => row.id });
}

function taskOf(row: TaskRow): Task {
  return {
    id: TaskId.parse(row.id),
    workspaceId: WorkspaceId.parse(row.workspace_id),
    title: row.title,
    description: row.description,
    status: TaskStatus.parse(row.status),
    createdBy: UserId.parse(row.created_by),
    createdAt: instant(row.created_at),
    updatedAt: instant(row.updated_at),
    completedAt: instantOrNull(row.completed_at),
  };
}
