import type { WorkspaceApproval } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { publishApprovalResolved } from '../events.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';

/** Records the audit entry and the event of a resolution of any kind. */
export async function recordResolution(
  tx: Tx,
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow'>,
  approval: WorkspaceApproval,
  by: { actor: string; requestId: string | null },
): Promise<void> {
  const { workspaceId, runId, id, status, tool, kernelApprovalId, apiKey, selfApproved, timelockUntil } = approval;
  const about = { runId, tool, kernelApprovalId, apiKeyId: apiKey?.id ?? null };
  await recordAudit(
    tx,
    {
      workspaceId,
      action: `approval.${status}`,
      actor: by.actor,
      verdict: status === 'approved' ? 'allow' : 'deny',
      subject: id,
      details: { ...about, selfApproved, timelockUntil },
      requestId: by.requestId,
    },
    context.now(),
  );
  await publishApprovalResolved(tx, context, approval);
}
