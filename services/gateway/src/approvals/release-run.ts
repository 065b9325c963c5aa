import type { Context } from '../context.ts';
import { publishRunEnqueued } from '../events.ts';
import { changeRun } from '../orchestrator/change-run.ts';
import type { StoredApproval } from '../store/approvals.ts';
import type { Tx } from '../store/database.ts';
import { grantStep } from '../store/steps.ts';
import { runOf } from './run-of.ts';

/** The parked step is due again, now under the kernel's approval, and its run goes back to the workers. */
export async function releaseRun(
  tx: Tx,
  context: Context,
  approval: StoredApproval,
  by: { actor: string; requestId: string | null },
): Promise<void> {
  const run = runOf(approval);
  if (run === null) return;
  await grantStep(tx, run.stepId, approval.kernelApprovalId);
  const change = { from: ['awaiting_approval'], to: 'queued', outcome: null, ...by } as const;
  if (await changeRun(tx, context, run, change)) await publishRunEnqueued(tx, context, run);
}
