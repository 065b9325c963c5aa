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
  /** Salted by the kernel; null until it answered. */
  argsHash: Digest.nullable(),
  verdict: Verdict.nullable(),
  reasonCode: ReasonCode.nullable(),
  decisionId: DecisionId.nullable(),
  receiptId: ReceiptId.nullable(),
  /** The approval requests for it, oldest first. An approval leads to a decision of its own, which is above. */
  escalations: z.array(
    z.strictObject({
      approvalId: ApprovalId,
      decisionId: DecisionId.nullable(),
      status: ApprovalStatus,
      /** Until when the approved step waits; null: it does not wait. */
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
  /** The cost that the kernel counted for the answered calls, rounded up. */
  costMinor: z.int().min(0),
  currency: RecordedCurrency,
  /** The last words of the model; null unless completed. */
  result: z.string().nullable(),
  error: RunError.nullable(),
  createdAt: Instant,
  startedAt: Instant.nullable(),
  endedAt: Instant.nullable(),
});
export type Run = z.infer<typeof Run>;

export const createTask = defineRoute({
  operation: 'create-task',
  summary: 'Create a task; its audit entry and evidence metadata commit with it.',
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
  summary: 'Tasks of the workspace, newest first.',
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
  summary: 'One task.',
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
  summary: 'Change the words of a task; refused while a run works on them. Members that are not sent stay.',
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
    'Delete a task that has no live run: by the person who created it, or by a partner or owner. The history of its runs stays in the audit log, the receipts and the evidence.',
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
  summary: 'Move a task. `queued` enqueues one run and answers 202 with it.',
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
  summary: 'Enqueue one governed run of the task.',
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
  summary: 'Run history of a task, newest first, each run with its steps.',
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
  summary: 'One run with its steps, whether its task still stands or not.',
  method: 'GET',
  path: '/api/runs/{runId}',
  auth: 'member',
  right: 'run.read',
  params: z.strictObject({ runId: z.string().max(64) }),
  query: z.strictObject(WorkspaceQuery),
  reply: Run,
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});
