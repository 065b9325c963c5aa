import { clockSkewMaxMs } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { findReleasable, takeHeld, type StoredApproval } from '../store/approvals.ts';
import type { Tx } from '../store/database.ts';
import { holdTask } from '../store/tasks.ts';
import { releaseRun } from './release-run.ts';
import { runOf } from './run-of.ts';

/** The kernel denies a call that comes before its time lock has passed. The guards accept a clock of the kernel that is this far behind. */
const clockSkewMs = 2 * clockSkewMaxMs;

/** Lets the runs go on whose time lock has passed at this instant. */
export async function releaseHeld(context: Context, at: Date): Promise<void> {
  const passedBefore = new Date(at.getTime() - clockSkewMs);
  for (const approval of await findReleasable(context.database.reader, passedBefore))
    await context.transaction((tx) => endWait(tx, context, approval));
}

/** Lets one run go on, once. */
export async function endWait(tx: Tx, context: Context, approval: StoredApproval): Promise<void> {
  const run = runOf(approval);
  if (run === null) return;
  await holdTask(tx, run.workspaceId, run.taskId);
  if (!(await takeHeld(tx, approval.id))) return;
  await releaseRun(tx, context, approval, { actor: approval.requestedBy, requestId: null });
}
