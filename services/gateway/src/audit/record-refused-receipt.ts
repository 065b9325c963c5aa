import { agentOf } from '@countersign/contracts';
import type { Context } from '../context.ts';
import type { RefusedReceipt } from '../governance/kernel-error.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { insertRefusedReceipt, type ReceiptPlace } from '../store/receipts.ts';

/**
 * Records a receipt that failed verification, with the cause. A receipt of another tenant is not stored: members of
 * this workspace see only its hash, in the audit log.
 */
export async function recordRefusedReceipt(
  tx: Tx,
  context: Pick<Context, 'now' | 'log'>,
  { receipt, fault, ...place }: ReceiptPlace & RefusedReceipt,
): Promise<void> {
  const { workspaceId, runId, stepId } = place;
  const now = context.now();
  const isOwn = String(receipt.payload.tenant_id) === workspaceId;
  if (isOwn) await insertRefusedReceipt(tx, { ...place, receipt, fault }, now);
  context.log.warn('receipt.refused', { workspace_id: workspaceId, run_id: runId, fault });
  const details = { runId, stepId, fault, receiptHash: receipt.receipt_hash, isKept: isOwn };
  const entry = { action: 'receipt.refused', actor: agentOf(workspaceId), verdict: 'fail', reason: fault } as const;
  const subject = isOwn ? receipt.payload.decision_id : null;
  await recordAudit(tx, { ...entry, workspaceId, subject, details }, now);
}
