import type { AuditVerdict } from '@countersign/contracts';
import type { GovernedOutcome, RunErrorCode, RunStatus } from '@countersign/contracts/gateway';
import { recordResolution } from './record-resolution.ts';
import type { Context } from '../context.ts';
import { publishRunEnded, publishTaskMoved } from '../events.ts';
import { cancelApprovalsOfRun } from '../store/approvals.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { recordEvidence } from '../store/evidence.ts';
import { moveRun } from '../store/run-progress.ts';
import { endOpenStep } from '../store/steps.ts';
import { lockTask, setTaskStatus } from '../store/tasks.ts';
import { taskStatusFor } from '../tasks/task-moves.ts';

type Deps = Pick<Context, 'newEvent' | 'now' | 'databaseNow'>;

type RunPlace = { workspaceId: string; taskId: string; runId: string };

type RunChange = {
  to: RunStatus;
  from: readonly RunStatus[];
  outcome: GovernedOutcome | null;
  result?: string | null;
  error?: { code: RunErrorCode; message: string } | null;
  actor: string;
  requestId?: string | null;
};

const auditVerdict: Record<RunStatus, AuditVerdict> = {
  queued: 'allow',
  running: 'allow',
  completed: 'allow',
  cancelled: 'allow',
  awaiting_approval: 'escalate',
  denied: 'deny',
  failed: 'fail',
  budget_exhausted: 'deny',
};

const endings: readonly RunStatus[] = ['completed', 'failed', 'denied', 'budget_exhausted', 'cancelled'];

/**
 * Moves a run and its task together with their audit entry, evidence and events. Locks the task first, like every
 * transaction that locks both. `false` when the run had changed before.
 */
export async function changeRun(tx: Tx, context: Deps, place: RunPlace, change: RunChange): Promise<boolean> {
  const now = context.now();
  const task = await lockTask(tx, place.workspaceId, place.taskId);
  if (task === null || !(await moveRun(tx, place.runId, change, now))) return false;
  const status = taskStatusFor(change.to);
  if (task.status !== status) {
    await setTaskStatus(tx, task.id, status, now);
    await publishTaskMoved(tx, context, { ...place, from: task.status, to: status });
  }
  if (endings.includes(change.to)) await recordEnding(tx, context, place, change);
  await recordAudit(
    tx,
    {
      workspaceId: place.workspaceId,
      action: `run.${change.to}`,
      actor: change.actor,
      verdict: auditVerdict[change.to],
      reason: change.error?.code ?? 'ok',
      subject: place.runId,
      details: { taskId: place.taskId, outcome: change.outcome },
      requestId: change.requestId ?? null,
    },
    now,
  );
  return true;
}

/** The reason why a parked step of a cancelled run was never executed. */
export const endedUndecided = {
  code: 'RUN_ENDED',
  message: 'The run ended before a decision about this call.',
} as const;

async function recordEnding(tx: Tx, context: Deps, place: RunPlace, change: RunChange): Promise<void> {
  const now = context.now();
  await endOpenStep(tx, place.runId, change.error ?? endedUndecided, now);
  for (const approval of await cancelApprovalsOfRun(tx, place.runId, now))
    await recordResolution(tx, context, approval, { actor: change.actor, requestId: change.requestId ?? null });
  const metadata = { status: change.to, outcome: change.outcome, errorCode: change.error?.code ?? null };
  await recordEvidence(tx, { ...place, kind: 'run_ended', content: change.result ?? null, metadata }, now);
  await publishRunEnded(tx, context, { ...place, status: change.to });
}
