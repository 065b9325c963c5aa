import { clockSkewMaxMs } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { findReleasable, takeHeld, type StoredApproval } from '../store/approvals.ts';
import type { Tx } from '../store/database.ts';
import { holdTask } from '../store/tasks.ts';
import { releaseRun } from './release-run.ts';
import { runOf } from './run-of.ts';

type Deps = Pick<Context, 'database' | 'newEvent' | 'now' | 'databaseNow' | 'transaction'>;

/**
 * The kernel denies a call before the end of its time lock. Clock guards permit a kernel clock that is this far
 * behind.
 */
const clockSkewMs = 2 * clockSkewMaxMs;

/** Continues the runs whose time lock has ended by `at`, also by a kernel clock that is behind. */
export async function releaseHeld(context: Deps, at: Date): Promise<void> {
  const passedBefore = new Date(at.getTime() - clockSkewMs);
  for (const approval of await findReleasable(context.database.reader, passedBefore))
    await context.transaction((tx) => endWait(tx, context, approval));
}

/** Continues the run that waits for this approval. Does nothing when the run already continues. */
export async function endWait(
  tx: Tx,
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow'>,
  approval: StoredApproval,
): Promise<void> {
  const run = runOf(approval);
  if (run === null) return;
  await holdTask(tx, run.workspaceId, run.taskId);
  if (!(await takeHeld(tx, approval.id))) return;
  await releaseRun(tx, context, approval, { actor: approval.requestedBy, requestId: null });
}
