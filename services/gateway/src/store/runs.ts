import { instantOrNull, instantOf, AppError, minorTaken, RunId, TaskId, UserId } from '@countersign/contracts';
import { GovernedOutcome, RunStatus, type Run, type RunSummary } from '@countersign/contracts/gateway';
import { isUniqueViolation } from '@countersign/database';
import type { RunModel, RunStepModel } from '../generated/prisma/models.ts';
import { newId } from '../ids.ts';
import type { Reader, Tx } from './database.ts';
import { olderThan, pageOf, type Page, type PageRequest } from './page.ts';
import { stepViewOf, type ShownApproval, type ShownStep } from './steps.ts';

type NewRun = {
  workspaceId: string;
  taskId: string;
  startedBy: string;
  iterationBudget: number;
  currency: string;
};

/** Throws ILLEGAL_TRANSITION when the task has a live run. The partial unique index decides races. */
export async function insertRun(tx: Tx, run: NewRun, now: Date): Promise<Run> {
  const { workspaceId, taskId, startedBy, iterationBudget, currency } = run;
  const terms = { workspaceId, taskId, startedBy, iterationBudget, currency };
  try {
    return runOf(await tx.run.create({ data: { id: newId('run'), ...terms, status: 'queued', createdAt: now } }), []);
  } catch (cause) {
    if (!isUniqueViolation(cause, 'runs_one_live_per_task')) throw cause;
    throw new AppError('ILLEGAL_TRANSITION', 'The task has an active run. Cancel it, or wait for its end', {
      cause,
      details: { allowed: [] },
    });
  }
}

/** The request and answer of a step contain the whole conversation so far, so no view of a run loads them. */
const withSteps = {
  steps: { orderBy: { seq: 'asc' }, omit: { args: true, output: true, proposal: true } },
  approvals: { orderBy: { id: 'asc' }, omit: { args: true } },
} as const;

export async function listRunsOf(
  reader: Reader,
  { workspaceId, taskId }: { workspaceId: string; taskId: string },
  request: PageRequest,
): Promise<Page<Run>> {
  const rows = await reader.run.findMany({
    where: { workspaceId, taskId, id: olderThan(request) },
    include: withSteps,
    orderBy: { id: 'desc' },
    take: request.limit + 1,
  });
  return pageOf(rows, request, { item: runWithSteps, key: (row) => row.id });
}

/** Includes runs of deleted tasks, since past actions stay visible. */
export async function listRunsIn(
  reader: Reader,
  workspaceId: string,
  request: PageRequest & { status?: RunStatus | undefined },
): Promise<Page<RunSummary>> {
  const { status } = request;
  const rows = await reader.run.findMany({
    where: { workspaceId, id: olderThan(request), ...(status !== undefined && { status }) },
    include: inBrief,
    orderBy: { id: 'desc' },
    take: request.limit + 1,
  });
  const item = (row: RunInBrief) => ({ ...summaryOf(row), ...briefOf(row) });
  return pageOf(rows, request, { item, key: (row) => row.id });
}

const stepsShown = 64;

/** The steps of a run without their content. */
const inBrief = {
  steps: { orderBy: { seq: 'asc' }, take: stepsShown, select: { kind: true, verdict: true } },
  _count: { select: { steps: true } },
} as const;

type StepInBrief = Pick<RunStepModel, 'kind' | 'verdict'>;
type RunInBrief = RunModel & { steps: StepInBrief[]; _count: { steps: number } };

function briefOf({ steps, _count }: RunInBrief): Pick<RunSummary, 'stepCount' | 'stepsBrief'> {
  return { stepCount: _count.steps, stepsBrief: steps.map(letterOf).join('') };
}

function letterOf({ kind, verdict }: StepInBrief): 'm' | 'a' | 'w' | 'd' {
  if (verdict === 'DENY') return 'd';
  if (verdict === 'ESCALATE') return 'w';
  return kind === 'model_call' ? 'm' : 'a';
}

/** `null` for a missing run, or one of another workspace. */
export async function findRun(reader: Reader, workspaceId: string, runId: string): Promise<Run | null> {
  if (!RunId.safeParse(runId).success) return null;
  const row = await reader.run.findUnique({ where: { id: runId, workspaceId }, include: withSteps });
  return row === null ? null : runWithSteps(row);
}

function runWithSteps(row: RunModel & { steps: ShownStep[]; approvals: ShownApproval[] }): Run {
  const { steps, approvals } = row;
  return runOf(
    row,
    steps.map((step) => stepViewOf({ step, approvals })),
  );
}

const liveStatuses: RunStatus[] = ['queued', 'running', 'awaiting_approval'];

export async function findLiveRunId(tx: Tx, taskId: string): Promise<string | null> {
  const run = await tx.run.findFirst({ where: { taskId, status: { in: liveStatuses } }, select: { id: true } });
  return run?.id ?? null;
}

/** The people who started these runs of the workspace, by run. */
export async function findRunStarters(
  reader: Reader,
  workspaceId: string,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (runIds.length === 0) return new Map();
  const where = { workspaceId, id: { in: [...runIds] } };
  const rows = await reader.run.findMany({ where, select: { id: true, startedBy: true } });
  return new Map(rows.map(({ id, startedBy }) => [id, startedBy]));
}

export async function isRunning(reader: Reader, of: { workspaceId: string; runId: string }): Promise<boolean> {
  const { workspaceId, runId: id } = of;
  return (await reader.run.count({ where: { workspaceId, id, status: 'running' } })) > 0;
}

export async function hasEnded(reader: Reader, of: { workspaceId: string; runId: string }): Promise<boolean> {
  const { workspaceId, runId: id } = of;
  return (await reader.run.count({ where: { workspaceId, id, status: { notIn: liveStatuses } } })) > 0;
}

function runOf(row: RunModel, steps: Run['steps']): Run {
  return { ...summaryOf(row), steps };
}

function summaryOf(row: RunModel): RunSummary {
  return {
    id: RunId.parse(row.id),
    taskId: TaskId.parse(row.taskId),
    status: RunStatus.parse(row.status),
    outcome: row.outcome === null ? null : GovernedOutcome.parse(row.outcome),
    startedBy: UserId.parse(row.startedBy),
    iterationsUsed: row.iterationsUsed,
    iterationBudget: row.iterationBudget,
    tokensIn: row.tokensIn,
    tokensOut: row.tokensOut,
    costMinor: minorTaken(row.costMicros),
    currency: row.currency,
    result: row.result,
    error: row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage ?? '' },
    createdAt: instantOf(row.createdAt),
    startedAt: instantOrNull(row.startedAt),
    endedAt: instantOrNull(row.endedAt),
  };
}
