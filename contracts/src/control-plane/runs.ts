import { z } from 'zod';
import { StoredReceipt } from '../governance-kernel/receipt.ts';
import { page, PageQuery } from '../list.ts';
import { ReasonCode } from '../reason-codes.ts';
import { defineRoute } from '../route.ts';
import { ApprovalStatus, GovernedOutcome, RunError, RunStatus, TaskDescription, TaskTitle } from '../run-states.ts';
import {
  ApprovalId,
  DecisionId,
  Digest,
  Instant,
  ReceiptId,
  RecordedCurrency,
  RunId,
  StepId,
  TaskId,
  UserId,
  Verdict,
} from '../scalars.ts';
import { OfWorkspace } from './workspace-path.ts';

/** A run of the gateway in the naming of this API. Its ids and its worker are the same. */
export const ConsoleRun = z.strictObject({
  run_id: RunId,
  task_id: TaskId,
  status: RunStatus,
  outcome: GovernedOutcome.nullable(),
  started_by: UserId,
  iterations_used: z.int().min(0),
  iteration_budget: z.int().min(1),
  tokens_in: z.int().min(0),
  tokens_out: z.int().min(0),
  cost_minor: z.int().min(0),
  currency: RecordedCurrency,
  result: z.string().nullable(),
  error: RunError.nullable(),
  created_at: Instant,
  started_at: Instant.nullable(),
  ended_at: Instant.nullable(),
});
export type ConsoleRun = z.infer<typeof ConsoleRun>;

export const ConsoleStep = z.strictObject({
  step_id: StepId,
  kind: z.enum(['model_call', 'tool_call']),
  tool: z.string().nullable(),
  args_hash: Digest.nullable(),
  verdict: Verdict.nullable(),
  reason_code: ReasonCode.nullable(),
  decision_id: DecisionId.nullable(),
  receipt_id: ReceiptId.nullable(),
  escalations: z.array(
    z.strictObject({
      approval_id: ApprovalId,
      decision_id: DecisionId.nullable(),
      status: ApprovalStatus,
      timelock_until: Instant.nullable(),
    }),
  ),
  started_at: Instant,
  ended_at: Instant.nullable(),
  error: RunError.nullable(),
});
export type ConsoleStep = z.infer<typeof ConsoleStep>;

export const ConsoleRunWithSteps = ConsoleRun.extend({ steps: z.array(ConsoleStep) });
export type ConsoleRunWithSteps = z.infer<typeof ConsoleRunWithSteps>;

/** A receipt of the kernel, and the result of checking it with the keys that this service trusts. */
export const CheckedReceipt = z.strictObject({
  receipt: StoredReceipt,
  verified: z.boolean(),
  /** A code of the verifier. `null` when the receipt verified. */
  fault: z.string().nullable(),
});
export type CheckedReceipt = z.infer<typeof CheckedReceipt>;

const OfRun = OfWorkspace.extend({ run_id: z.string().min(1).max(128) });

export const createConsoleRun = defineRoute({
  operation: 'create-console-run',
  summary: 'Start a run of an existing or a new task. The gateway executes the run.',
  method: 'POST',
  path: '/api/v1/workspaces/{id}/runs',
  auth: 'session',
  forward: {},
  idempotency: 'key',
  leastRole: 'member',
  right: 'run.start',
  status: 202,
  params: OfWorkspace,
  body: z
    .strictObject({
      task_id: z.string().min(1).max(128).optional(),
      title: TaskTitle.optional(),
      description: TaskDescription.optional(),
    })
    .refine(({ task_id, title }) => (task_id === undefined) !== (title === undefined), {
      path: ['task_id'],
      message: 'must be sent for an existing task. For a new task, send `title` instead',
    })
    .refine(({ task_id, description }) => task_id === undefined || description === undefined, {
      path: ['description'],
      message: 'must not be sent with `task_id`: the task has its own',
    }),
  reply: ConsoleRunWithSteps,
  errors: ['ILLEGAL_TRANSITION', 'GATEWAY_UNAVAILABLE'],
});

export const listConsoleRuns = defineRoute({
  operation: 'list-console-runs',
  summary: 'List the runs of the workspace without their steps, newest first.',
  method: 'GET',
  path: '/api/v1/workspaces/{id}/runs',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'run.read',
  opensToPrograms: true,
  params: OfWorkspace,
  query: z.strictObject({ status: RunStatus.optional(), ...PageQuery }),
  reply: page(ConsoleRun),
  errors: ['GATEWAY_UNAVAILABLE'],
});

export const getConsoleRun = defineRoute({
  operation: 'get-console-run',
  summary: 'Get a run with its steps.',
  method: 'GET',
  path: '/api/v1/workspaces/{id}/runs/{run_id}',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'run.read',
  opensToPrograms: true,
  params: OfRun,
  reply: ConsoleRunWithSteps,
  errors: ['GATEWAY_UNAVAILABLE'],
});

export const listRunReceipts = defineRoute({
  operation: 'list-run-receipts',
  summary:
    'List the receipts of a run, newest first, each verified with the trusted keys. To prove that none is ' +
    "missing, export the session with the run's id.",
  method: 'GET',
  path: '/api/v1/workspaces/{id}/runs/{run_id}/receipts',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'evidence.read',
  opensToPrograms: true,
  params: OfRun,
  query: z.strictObject(PageQuery),
  reply: page(CheckedReceipt),
  errors: ['GATEWAY_UNAVAILABLE', 'GOVERNANCE_UNAVAILABLE'],
});
