import { approvalResolved, type WorkspaceApproval } from '@countersign/contracts/gateway';
import { recordEvents } from '@countersign/messaging';
import type { Context } from '../context.ts';
import { recordAudit } from '../store/audit.ts';
import type { Sql } from '../store/sql.ts';

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
