import { z } from 'zod';
import { camelPage, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { RunStatus, TaskDescription, TaskTitle } from '../run-states.ts';
import { Run } from './tasks.ts';
import { WorkspaceBody, WorkspaceQuery } from './workspaces.ts';

/** A run without its steps, for lists. Read the run itself to see its steps. */
export const RunSummary = Run.omit({ steps: true }).extend({
  /** The number of steps. Older gateways omit it. */
  stepCount: z.int().min(0).optional(),
  /**
   * The first steps, one letter each: `m` a call of the model, `a` an action, `w` a step that required an approval,
   * `d` a denied step.
   */
  stepsBrief: z
    .string()
    .regex(/^[madw]{0,64}$/)
    .optional(),
});
export type RunSummary = z.infer<typeof RunSummary>;

export const listWorkspaceRuns = defineRoute({
  operation: 'list-workspace-runs',
  summary: 'List the runs of the workspace without their steps, newest first, including runs of deleted tasks.',
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
  summary: 'Start a governed run of an existing task, or of a new one that is created with it.',
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
      message: 'must be sent for an existing task. For a new task, send `title` instead',
    })
    .refine(({ taskId, description }) => taskId === undefined || description === undefined, {
      path: ['description'],
      message: 'must not be sent with `taskId`: the task has its own',
    }),
  reply: Run,
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION', 'LIMIT_REACHED', 'WORKSPACE_CONTEXT_CONFLICT'],
});
