import { AppError, RunId, TaskId, UserId } from '@countersign/contracts';
import { GovernedOutcome, RunStatus, type Run } from '@countersign/contracts/gateway';
import { isUniqueViolation } from '@countersign/database';
import { newId } from '../ids.ts';
import { minorOf } from '../runs/spend.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import { instant, instantOrNull, onlyRow, type Sql } from './sql.ts';
import { stepViewsOf } from './steps.ts';

export type RunRow = {
  id: string;
  workspace_id: string;
  task_id: string;
  status: string;
  outcome: string | null;
  started_by: string;
  iterations_used: number;
  iteration_budget: number;
  tokens_in: number;
  tokens_out: number;
  cost_micros: string;
  currency: string;
  result: string | null;
  error_code: string | null;
  error_message: string | null;
  lease_fence: number;
  attempts: number;
  created_at: Date;
  started_at: Date | null;
  ended_at: Date | null;
};

export type NewRun = {
  workspaceId: string;
  taskId: string;
  startedBy: string;
  iterationBudget: number;
  currency: string;
};

/** Throws ILLEGAL_TRANSITION when the task has a live run: the partial unique index decides races. */
export async function insertRun(tx: Sql, run: NewRun, now: Date): Promise<Run> {
  try {
    const { rows } = await tx.query<RunRow>(
      `INSERT INTO runs (id, workspace_id, task_id, status, started_by, iteration_budget, currency, created_at)
       VALUES ($1, $2, $3, 'queued', $4, $5, $6, $7) RETURNING *`,
      [newId('run'), run.workspaceId, run.taskId, run.startedBy, run.iterationBudget, run.currency, now],
    );
    return runOf(onlyRow(rows), []);
  } catch (cause) {
    if (!isUniqueViolation(cause, 'runs_one_live_per_task')) throw cause;
    throw new AppError('ILLEGAL_TRANSITION', 'The task has a live run', { cause, details: { allowed: [] } });
  }
}

export async function listRunsOf(
  sql: Sql,
  place: { workspaceId: string; taskId: string },
  request: PageRequest,
): Promise<Page<Run>> {
  const { rows } = await sql.query<RunRow>(
    `SELECT * FROM runs WHERE workspace_id = $1 AND task_id = $2 AND ($3::text IS NULL OR id < $3)
      ORDER BY id DESC LIMIT $4`,
    [place.workspaceId, place.taskId, pageStart(request), request.limit + 1],
  );
  const steps = await stepViewsOf(
    sql,
    rows.map((row) => row.id),
  );
  return pageOf(rows, request, { item: (row) => runOf(row, steps.get(row.id) ?? []), key: (row) => row.id });
}

export async function findLiveRunId(tx: Sql, taskId: string): Promise<string | null> {
  const { rows } = await tx.query<{ id: string }>(
    `SELECT id FROM runs WHERE task_id = $1 AND status IN ('queued', 'running', 'awaiting_approval')`,
    [taskId],
  );
  return rows[0]?.id ?? null;
}

function runOf(row: RunRow, steps: Run['steps']): Run {
  return {
    id: RunId.parse(row.id),
    taskId: TaskId.parse(row.task_id),
    status: RunStatus.parse(row.status),
    outcome: row.outcome === null ? null : GovernedOutcome.parse(row.outcome),
    startedBy: UserId.parse(row.started_by),
    steps,
    iterationsUsed: row.iterations_used,
    iterationBudget: row.iteration_budget,
    tokensIn: row.tokens_in,
    tokensOut: row.tokens_out,
    costMinor: minorOf(Number(row.cost_micros)),
    currency: row.currency,
    result: row.result,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    createdAt: instant(row.created_at),
    startedAt: instantOrNull(row.started_at),
    endedAt: instantOrNull(row.ended_at),
  };
}
