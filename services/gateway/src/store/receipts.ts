import { RunId, TaskId } from '@countersign/contracts';
import { GovernanceReceipt } from '@countersign/contracts/gateway';
import { StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { ReceiptModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';
import { instant } from './instant.ts';
import { olderThan, pageOf, type Page, type PageRequest } from './page.ts';

type NewReceipt = {
  workspaceId: string;
  /** These three are null for the decision on a call of an API key. */
  taskId: string | null;
  runId: string | null;
  stepId: string | null;
  verification: 'verified' | 'failed';
  receipt: StoredReceipt;
};

/** Once per workspace and decision: a replayed answer brings the same receipt again. */
export async function recordReceipt(tx: Tx, stored: NewReceipt, now: Date): Promise<void> {
  const { workspaceId, taskId, runId, stepId, verification, receipt } = stored;
  const { decision_id: decisionId, receipt_id: receiptId } = receipt.payload;
  const place = { workspaceId, taskId, runId, stepId };
  const content = { decisionId, receiptId, document: receipt, verification };
  const data = { ...place, ...content, verifiedAt: now, receivedAt: now };
  await tx.receipt.createMany({ data, skipDuplicates: true });
}

/** True when the decision was already used for another step: somebody replays an old answer. */
export async function isReceiptOfOtherStep(
  tx: Tx,
  { workspaceId, decisionId, stepId }: { workspaceId: string; decisionId: string; stepId: string },
): Promise<boolean> {
  return (await tx.receipt.count({ where: { workspaceId, decisionId, stepId: { not: stepId } } })) > 0;
}

export async function listReceiptsOf(
  reader: Reader,
  workspaceId: string,
  request: PageRequest,
): Promise<Page<GovernanceReceipt>> {
  const rows = await reader.receipt.findMany({
    where: { workspaceId, receiptId: olderThan(request) },
    orderBy: { receiptId: 'desc' },
    take: request.limit + 1,
  });
  return pageOf(rows, request, { item: (row) => receiptOf(row).view, key: (row) => row.receiptId });
}

export async function findReceipt(
  reader: Reader,
  workspaceId: string,
  decisionId: string,
): Promise<(GovernanceReceipt & { receipt: StoredReceipt }) | null> {
  const row = await reader.receipt.findUnique({ where: { workspaceId_decisionId: { workspaceId, decisionId } } });
  if (row === null) return null;
  const { view, receipt } = receiptOf(row);
  return { ...view, receipt };
}

function receiptOf(row: ReceiptModel): { view: GovernanceReceipt; receipt: StoredReceipt } {
  const receipt = StoredReceipt.parse(row.document);
  const { payload, signature } = receipt;
  const view: GovernanceReceipt = {
    decisionId: payload.decision_id,
    receiptId: payload.receipt_id,
    receiptHash: receipt.receipt_hash,
    taskId: TaskId.nullable().parse(row.taskId),
    runId: RunId.nullable().parse(row.runId),
    verdict: payload.verdict,
    reasonCode: payload.reason_code,
    action: payload.action,
    tool: payload.tool,
    effectLevel: payload.effect_level,
    principal: payload.principal_id,
    policyHash: payload.policy_hash,
    keyId: signature.key_id,
    verification: GovernanceReceipt.shape.verification.parse(row.verification),
    verifiedAt: instant(row.verifiedAt),
    receivedAt: instant(row.receivedAt),
  };
  return { view, receipt };
}
