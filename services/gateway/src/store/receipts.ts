import { RunId, TaskId } from '@countersign/contracts';
import { GovernanceReceipt } from '@countersign/contracts/gateway';
import { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import { instant, type Sql } from './sql.ts';

export type NewReceipt = {
  workspaceId: string;
  taskId: string;
  runId: string;
  stepId: string;
  verification: 'verified' | 'failed';
  receipt: StoredReceipt;
};

/** Once per workspace and decision: a replayed answer brings the same receipt again. */
export async function recordReceipt(tx: Sql, { receipt, ...place }: NewReceipt, now: Date): Promise<void> {
  await tx.query(
    `INSERT INTO receipts (workspace_id, decision_id, receipt_id, task_id, run_id, step_id, verification, document, verified_at, received_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) ON CONFLICT DO NOTHING`,
    [
      place.workspaceId,
      receipt.payload.decision_id,
      receipt.payload.receipt_id,
      place.taskId,
      place.runId,
      place.stepId,
      place.verification,
      JSON.stringify(receipt),
      now,
    ],
  );
}

/** True when the decision was already used for another step: somebody replays an old answer. */
export async function isReceiptOfOtherStep(
  tx: Sql,
  place: { workspaceId: string; decisionId: string; stepId: string },
): Promise<boolean> {
  const { rows } = await tx.query(
    'SELECT 1 FROM receipts WHERE workspace_id = $1 AND decision_id = $2 AND step_id <> $3',
    [place.workspaceId, place.decisionId, place.stepId],
  );
  return rows.length > 0;
}

type ReceiptRow = {
  decision_id: string;
  receipt_id: string;
  task_id: string | null;
  run_id: string | null;
  verification: string;
  document: unknown;
  verified_at: Date;
  received_at: Date;
};

export async function listReceiptsOf(
  sql: Sql,
  workspaceId: string,
  request: PageRequest,
): Promise<Page<GovernanceReceipt>> {
  const { rows } = await sql.query<ReceiptRow>(
    `SELECT * FROM receipts WHERE workspace_id = $1 AND ($2::text IS NULL OR receipt_id < $2)
      ORDER BY receipt_id DESC LIMIT $3`,
    [workspaceId, pageStart(request), request.limit + 1],
  );
  return pageOf(rows, request, { item: (row) => receiptOf(row).view, key: (row) => row.receipt_id });
}

export async function findReceipt(
  sql: Sql,
  workspaceId: string,
  decisionId: string,
): Promise<(GovernanceReceipt & { receipt: StoredReceipt }) | null> {
  const { rows } = await sql.query<ReceiptRow>('SELECT * FROM receipts WHERE workspace_id = $1 AND decision_id = $2', [
    workspaceId,
    decisionId,
  ]);
  const [row] = rows;
  if (row === undefined) return null;
  const { view, receipt } = receiptOf(row);
  return { ...view, receipt };
}

function receiptOf(row: ReceiptRow): { view: GovernanceReceipt; receipt: StoredReceipt } {
  const receipt = StoredReceipt.parse(row.document);
  const { payload, signature } = receipt;
  const view: GovernanceReceipt = {
    decisionId: payload.decision_id,
    receiptId: payload.receipt_id,
    receiptHash: receipt.receipt_hash,
    taskId: TaskId.nullable().parse(row.task_id),
    runId: RunId.nullable().parse(row.run_id),
    verdict: payload.verdict,
    reasonCode: payload.reason_code,
    action: payload.action,
    tool: payload.tool,
    effectLevel: payload.effect_level,
    principal: payload.principal_id,
    policyHash: payload.policy_hash,
    keyId: signature.key_id,
    verification: GovernanceReceipt.shape.verification.parse(row.verification),
    verifiedAt: instant(row.verified_at),
    receivedAt: instant(row.received_at),
  };
  return { view, receipt };
}
