import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { TaskDescription, TaskStatus, TaskTitle } from '../run-states.ts';
import { Instant, TaskId, UserId } from '../scalars.ts';
import { OfWorkspace } from './workspace-path.ts';

/** A task of the gateway in the naming of this API. */
export const ConsoleTask = z.strictObject({
  task_id: TaskId,
  title: z.string(),
  description: z.string(),
  status: TaskStatus,
  created_by: UserId,
  created_at: Instant,
  updated_at: Instant,
  completed_at: Instant.nullable(),
});
export type ConsoleTask = z.infer<typeof ConsoleTask>;

export const createConsoleTask = defineRoute({
  operation: 'create-console-task',
  summary: 'Create a task at the gateway. It does not run until a run is started.',
  method: 'POST',
  path: '/api/v1/workspaces/{id}/tasks',
  auth: 'session',
  forward: {},
  idempotency: 'key',
  leastRole: 'member',
  right: 'task.create',
  status: 201,
  params: OfWorkspace,
  body: z.strictObject({ title: TaskTitle, description: TaskDescription.default('') }),
  reply: ConsoleTask,
  errors: ['GATEWAY_UNAVAILABLE'],
});

export const listConsoleTasks = defineRoute({
  operation: 'list-console-tasks',
  summary: 'List the tasks of the workspace, newest first.',
  method: 'GET',
  path: '/api/v1/workspaces/{id}/tasks',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'task.read',
  opensToPrograms: true,
  params: OfWorkspace,
  query: z.strictObject({ status: TaskStatus.optional(), ...PageQuery }),
  reply: page(ConsoleTask),
  errors: ['GATEWAY_UNAVAILABLE'],
});
