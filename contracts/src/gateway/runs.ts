import { z } from 'zod';
import { camelPage, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { RunStatus, TaskDescription, TaskTitle } from '../run-states.ts';
import { Run } from './tasks.ts';
import { WorkspaceBody, WorkspaceQuery } from './workspaces.ts';

/** A run as lists of many show it: its steps stand at the run itself. */
export const RunSummary = Run.omit({ steps: true });
export type RunSummary = z.infer<typeof RunSummary>;

export const listWorkspaceRuns = defineRoute({
  operation: 'list-workspace-runs',
  summary:
    'Runs of the workspace, newest first, without their steps. Runs of tasks that were deleted stand among them.',
  method: 'GET',
  path: '/api/runs',
  auth: 'member',
  right: 'run.read',
  query: z.strictObject({ ...WorkspaceQuery, status: RunStatus.optional(), ...PageQuery }),
  reply: camelPage(RunSummary),
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const startRun = defineRoute({
  operation: 'start-run',
  summary: 'Enqueue one governed run of a task: of one that stands, or of a new one that commits with it.',
  method: 'POST',
  path: '/api/runs',
  auth: 'member',
  right: 'run.start',
  idempotency: 'key',
  status: 202,
  query: z.strictObject(WorkspaceQuery),
  body: z
    .strictObject({
      ...WorkspaceBody,
      taskId: z.string().min(1).max(128).optional(),
      title: TaskTitle.optional(),
      description: TaskDescription.optional(),
    })
    .refine(({ taskId, title }) => (taskId === undefined) !== (title === undefined), {
      path: ['taskId'],
      message: 'must name a task, or else `title` a new one',
    })
    .refine(({ taskId, description }) => taskId === undefined || description === undefined, {
      path: ['description'],
      message: 'is that of the task that `taskId` names',
    }),
  reply: Run,
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION', 'LIMIT_REACHED', 'WORKSPACE_CONTEXT_CONFLICT'],
});
