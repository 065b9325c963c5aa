import type { Context } from '../context.ts';
import { publishRunEnqueued } from '../events.ts';
import { changeRun } from '../run-moves/change-run.ts';
import type { StoredApproval } from '../store/approvals.ts';
import type { Tx } from '../store/database.ts';
import { grantStep } from '../store/steps.ts';
import { runOf } from './run-of.ts';

/** Makes the parked step due again under the approval of the kernel, and returns its run to the queue. */
export async function releaseRun(
  tx: Tx,
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow'>,
  approval: StoredApproval,
  by: { actor: string; requestId: string | null },
): Promise<void> {
  const run = runOf(approval);
  if (run === null) return;
  await grantStep(tx, run.stepId, approval.kernelApprovalId);
  const change = { from: ['awaiting_approval'], to: 'queued', outcome: null, ...by } as const;
  if (await changeRun(tx, context, run, change)) await publishRunEnqueued(tx, context, run);
}
