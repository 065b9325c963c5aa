import { z } from 'zod';
import { camelPage, PageQuery } from '../list.ts';
import { ReasonCode } from '../reason-codes.ts';
import { defineRoute } from '../route.ts';
import {
  ApprovalStatus,
  GovernedOutcome,
  RunError,
  RunStatus,
  TaskDescription,
  TaskStatus,
  TaskTitle,
} from '../run-states.ts';
import {
  ApprovalId,
  DecisionId,
  Digest,
  Instant,
  ReceiptId,
  RunId,
  StepId,
  TaskId,
  UserId,
  Verdict,
  WorkspaceId,
  RecordedCurrency,
} from '../scalars.ts';
import { Done, PathId, WorkspaceBody, WorkspaceQuery } from './workspaces.ts';

export const Task = z.strictObject({
  id: TaskId,
  workspaceId: WorkspaceId,
  title: z.string(),
  description: z.string(),
  status: TaskStatus,
  createdBy: UserId,
  createdAt: Instant,
  updatedAt: Instant,
  completedAt: Instant.nullable(),
});
export type Task = z.infer<typeof Task>;

export const RunStep = z.strictObject({
  id: StepId,
  kind: z.enum(['model_call', 'tool_call']),
  tool: z.string().nullable(),
  /** The hash of the arguments, salted by the kernel. `null` until the kernel has answered. */
  argsHash: Digest.nullable(),
  verdict: Verdict.nullable(),
  reasonCode: ReasonCode.nullable(),
  decisionId: DecisionId.nullable(),
  receiptId: ReceiptId.nullable(),
  /**
   * The approval requests of the step, oldest first. An approved call is decided again. That decision is in the members
   * above.
   */
  escalations: z.array(
    z.strictObject({
      approvalId: ApprovalId,
      decisionId: DecisionId.nullable(),
      status: ApprovalStatus,
      /** The approved step waits until this time. `null` when it does not wait. */
      timelockUntil: Instant.nullable(),
    }),
  ),
  startedAt: Instant,
  endedAt: Instant.nullable(),
  error: RunError.nullable(),
});
export type RunStep = z.infer<typeof RunStep>;

export const Run = z.strictObject({
  id: RunId,
  taskId: TaskId,
  status: RunStatus,
  outcome: GovernedOutcome.nullable(),
  startedBy: UserId,
  steps: z.array(RunStep),
  iterationsUsed: z.int().min(0),
  iterationBudget: z.int().min(1),
  tokensIn: z.int().min(0),
  tokensOut: z.int().min(0),
  /** The cost of the answered calls as counted by the kernel, rounded up. */
  costMinor: z.int().min(0),
  currency: RecordedCurrency,
  /** The last text of the model. `null` unless the run is completed. */
  result: z.string().nullable(),
  error: RunError.nullable(),
  createdAt: Instant,
  startedAt: Instant.nullable(),
  endedAt: Instant.nullable(),
});
export type Run = z.infer<typeof Run>;

export const createTask = defineRoute({
  operation: 'create-task',
  summary: 'Create a task. Its audit entry and evidence metadata are stored in the same transaction.',
  method: 'POST',
  path: '/api/tasks',
  auth: 'member',
  right: 'task.create',
  idempotency: 'key',
  opensToPrograms: true,
  status: 201,
  query: z.strictObject(WorkspaceQuery),
  body: z.strictObject({
    ...WorkspaceBody,
    title: TaskTitle,
    description: TaskDescription.default(''),
  }),
  reply: Task,
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const listTasks = defineRoute({
  operation: 'list-tasks',
  summary: 'List the tasks of the workspace, newest first.',
  method: 'GET',
  path: '/api/tasks',
  auth: 'member',
  right: 'task.read',
  query: z.strictObject({ ...WorkspaceQuery, status: TaskStatus.optional(), ...PageQuery }),
  reply: camelPage(Task),
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const getTask = defineRoute({
  operation: 'get-task',
  summary: 'Get a task.',
  method: 'GET',
  path: '/api/tasks/{id}',
  auth: 'member',
  right: 'task.read',
  params: PathId,
  query: z.strictObject(WorkspaceQuery),
  reply: Task,
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const putTask = defineRoute({
  operation: 'put-task',
  summary:
    'Change the title or description of a task. Omitted members stay unchanged. A task cannot be changed during ' +
    'its run.',
  method: 'PUT',
  path: '/api/tasks/{id}',
  auth: 'member',
  right: 'task.change',
  idempotency: { exempt: 'repeatable' },
  opensToPrograms: true,
  params: PathId,
  query: z.strictObject(WorkspaceQuery),
  body: z.strictObject({ ...WorkspaceBody, title: TaskTitle.optional(), description: TaskDescription.optional() }),
  reply: Task,
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const deleteTask = defineRoute({
  operation: 'delete-task',
  summary:
    'Delete a task that has no live run. Only its creator, partners and owners can. Audit entries, receipts and ' +
    'evidence are kept.',
  method: 'DELETE',
  path: '/api/tasks/{id}',
  auth: 'member',
  right: 'task.change',
  idempotency: { exempt: 'repeatable' },
  opensToPrograms: true,
  params: PathId,
  query: z.strictObject(WorkspaceQuery),
  reply: Done,
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION', 'PERMISSION_DENIED', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const putTaskStatus = defineRoute({
  operation: 'put-task-status',
  summary: 'Change the status of a task. `queued` starts a run and returns it with 202.',
  method: 'PUT',
  path: '/api/tasks/{id}/status',
  auth: 'member',
  right: 'task.change',
  idempotency: { exempt: 'repeatable' },
  opensToPrograms: true,
  alsoStatus: [202],
  params: PathId,
  query: z.strictObject(WorkspaceQuery),
  body: z.strictObject({ ...WorkspaceBody, status: TaskStatus }),
  reply: Task.extend({ run: Run.nullable() }),
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION', 'LIMIT_REACHED', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const runTask = defineRoute({
  operation: 'run-task',
  summary: 'Start a governed run of a task.',
  method: 'POST',
  path: '/api/tasks/{id}/run',
  auth: 'member',
  right: 'run.start',
  idempotency: 'key',
  opensToPrograms: true,
  status: 202,
  params: PathId,
  query: z.strictObject(WorkspaceQuery),
  body: z.strictObject(WorkspaceBody).optional(),
  reply: Run,
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION', 'LIMIT_REACHED', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const listRuns = defineRoute({
  operation: 'list-runs',
  summary: 'List the runs of a task with their steps, newest first.',
  method: 'GET',
  path: '/api/tasks/{id}/runs',
  auth: 'member',
  right: 'run.read',
  params: PathId,
  query: z.strictObject({ ...WorkspaceQuery, ...PageQuery }),
  reply: camelPage(Run),
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const getRun = defineRoute({
  operation: 'get-run',
  summary: 'Get a run with its steps, even if its task was deleted.',
  method: 'GET',
  path: '/api/runs/{runId}',
  auth: 'member',
  right: 'run.read',
  params: z.strictObject({ runId: z.string().max(64) }),
  query: z.strictObject(WorkspaceQuery),
  reply: Run,
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});
