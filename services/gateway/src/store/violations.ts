import { DecisionId, ReceiptId, RunId, StepId, TaskId, WorkspaceId } from '@countersign/contracts';
import { Violation } from '@countersign/contracts/gateway';
import { newId } from '../ids.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import { instant, type Sql } from './sql.ts';

export type NewViolation = {
  workspaceId: string;
  taskId: string | null;
  runId: string | null;
  stepId: string | null;
  source: Violation['source'];
  tool: string | null;
  reasonCode: string;
  reason: string;
  decisionId: string | null;
  receiptId: string | null;
};

export async function recordViolation(tx: Sql, violation: NewViolation, now: Date): Promise<void> {
  await tx.query(
    `INSERT INTO violations (id, workspace_id, task_id, run_id, step_id, source, tool, reason_code, reason, decision_id, receipt_id, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      newId('vio'),
      violation.workspaceId,
      violation.taskId,
      violation.runId,
      violation.stepId,
      violation.source,
      violation.tool,
      violation.reasonCode,
      violation.reason,
      violation.decisionId,
      violation.receiptId,
      now,
    ],
  );
}

type ViolationRow = {
  id: string;
  workspace_id: string;
  task_id: string | null;
  run_id: string | null;
  step_id: string | null;
  source: string;
  tool: string | null;
  reason_code: string;
  reason: string;
  decision_id: string | null;
  receipt_id: string | null;
  created_at: Date;
};

export async function listViolationsOf(sql: Sql, workspaceId: string, request: PageRequest): Promise<Page<Violation>> {
  const { rows } = await sql.query<ViolationRow>(
    `SELECT * FROM violations WHERE workspace_id = $1 AND ($2::text IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`,
    [workspaceId, pageStart(request), request.limit + 1],
  );
  return pageOf(rows, request, { item: violationOf, key: (row) => row.id });
}

function violationOf(row: ViolationRow): Violation {
  return {
    id: row.id,
    workspaceId: WorkspaceId.parse(row.workspace_id),
    taskId: TaskId.nullable().parse(row.task_id),
    runId: RunId.nullable().parse(row.run_id),
    stepId: StepId.nullable().parse(row.step_id),
    source: Violation.shape.source.parse(row.source),
    tool: row.tool,
    reasonCode: row.reason_code,
    reason: row.reason,
    decisionId: DecisionId.nullable().parse(row.decision_id),
    receiptId: ReceiptId.nullable().parse(row.receipt_id),
    createdAt: instant(row.created_at),
  };
}
