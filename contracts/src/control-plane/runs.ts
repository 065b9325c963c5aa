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

/** The gateway's run, in the words of this interface: the same ids, the same worker. */
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

/** A receipt of the kernel, and what this service found when it held it against the keys that it trusts. */
export const CheckedReceipt = z.strictObject({
  receipt: StoredReceipt,
  verified: z.boolean(),
  /** A code of the verifier; null where it verified. */
  fault: z.string().nullable(),
});
export type CheckedReceipt = z.infer<typeof CheckedReceipt>;

const OfRun = OfWorkspace.extend({ run_id: z.string().min(1).max(128) });

export const createConsoleRun = defineRoute({
  operation: 'create-console-run',
  summary: 'Start a run of a task, or of a new one: the run is the one that the gateway works on, and so is the task.',
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
      message: 'must name a task, or else `title` a new one',
    })
    .refine(({ task_id, description }) => task_id === undefined || description === undefined, {
      path: ['description'],
      message: 'is that of the task that `task_id` names',
    }),
  reply: ConsoleRunWithSteps,
  errors: ['ILLEGAL_TRANSITION', 'GATEWAY_UNAVAILABLE'],
});

export const listConsoleRuns = defineRoute({
  operation: 'list-console-runs',
  summary: 'Runs of the workspace, newest first, without their steps.',
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
  summary: 'One run with its steps.',
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
    "The kernel's receipts of a run, newest first, each verified with the trusted keys here. The offline proof that none is missing is " +
    'the export of the session that has the id of the run.',
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
