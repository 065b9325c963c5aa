import { approvalResolved, type WorkspaceApproval } from '@countersign/contracts/gateway';
import { recordEvents } from '@countersign/messaging';
import type { Context } from '../context.ts';
import { changeRun } from '../orchestrator/conclude-run.ts';
import { recordAudit } from '../store/audit.ts';
import type { Sql } from '../store/sql.ts';
import { closeOpenStep } from '../store/steps.ts';
import { recordViolation } from '../store/violations.ts';

const messages = {
  APPROVAL_REJECTED: 'The approval was rejected.',
  APPROVAL_EXPIRED: 'Nobody decided in time.',
} as const;

export type Unapproved = { actor: string; code: keyof typeof messages; requestId: string | null };

/** What an approval that was rejected or expired means: the parked action never runs and the run ends as denied. */
export async function endUnapproved(
  tx: Sql,
  context: Context,
  approval: WorkspaceApproval,
  end: Unapproved,
): Promise<void> {
  const now = context.now();
  const error = { code: end.code, message: messages[end.code] };
  await closeOpenStep(tx, approval.runId, error, now);
  await recordViolation(
    tx,
    {
      workspaceId: approval.workspaceId,
      taskId: approval.taskId,
      runId: approval.runId,
      stepId: null,
      source: 'workspace',
      tool: approval.tool,
      reasonCode: error.code,
      reason: error.message,
      decisionId: approval.decisionId,
      receiptId: null,
    },
    now,
  );
  await recordResolution(tx, context, approval, end);
  const change = { from: ['awaiting_approval'], to: 'denied', outcome: 'deny', error, actor: end.actor } as const;
  await changeRun(tx, context, approval, { ...change, requestId: end.requestId });
}

/** The audit entry and the event of a resolution, whatever it was. */
export async function recordResolution(
  tx: Sql,
  context: Context,
  approval: WorkspaceApproval,
  by: { actor: string; requestId: string | null },
): Promise<void> {
  const { workspaceId, runId, id, status } = approval;
  await recordAudit(
    tx,
    {
      workspaceId,
      action: `approval.${status}`,
      actor: by.actor,
      verdict: status === 'approved' ? 'allow' : 'deny',
      subject: id,
      details: { runId, tool: approval.tool, kernelApprovalId: approval.kernelApprovalId },
      requestId: by.requestId,
    },
    context.now(),
  );
  const data = { workspaceId, runId, approvalId: id, status };
  await recordEvents(tx, [context.newEvent(approvalResolved, data, { tenantid: workspaceId })]);
}
