import { ApprovalId, DecisionId, RunId, TaskId, UserId, WorkspaceId } from '@countersign/contracts';
import {
  ApprovalStatus,
  WorkspaceApproval as WorkspaceApprovalShape,
  type WorkspaceApproval,
} from '@countersign/contracts/gateway';
import { newId } from '../ids.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import { instant, instantOrNull, onlyRow, type Sql } from './sql.ts';

type ApprovalRow = {
  id: string;
  workspace_id: string;
  task_id: string;
  run_id: string;
  step_id: string;
  kernel_approval_id: string;
  status: string;
  tool: string | null;
  args: string;
  reason_code: string;
  reason: string;
  decision_id: string | null;
  requested_by: string;
  started_by: string;
  resolved_by: string | null;
  resolved_at: Date | null;
  expires_at: Date;
  created_at: Date;
};

export type NewApproval = {
  workspaceId: string;
  taskId: string;
  runId: string;
  stepId: string;
  kernelApprovalId: string;
  tool: string | null;
  args: string;
  reasonCode: string;
  reason: string;
  decisionId: string | null;
  requestedBy: string;
  startedBy: string;
  expiresAt: Date;
};

/**
 * The approval of a step that parks. A kernel that asks again under an approval that the run has used before opens it anew. Throws
 * when it belongs to another run: see isApprovalOfOtherRun.
 */
export async function insertApproval(tx: Sql, approval: NewApproval, now: Date): Promise<WorkspaceApproval> {
  const { rows } = await tx.query<ApprovalRow>(
    `INSERT INTO approvals (id, workspace_id, task_id, run_id, step_id, kernel_approval_id, status, tool, args, reason_code,
                            reason, decision_id, requested_by, started_by, expires_at, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, 'pending', $7, $8, $9, $10, $11, $12, $13, $14, $15)
     ON CONFLICT (kernel_approval_id) DO UPDATE
        SET status = 'pending', step_id = EXCLUDED.step_id, args = EXCLUDED.args, reason_code = EXCLUDED.reason_code,
            reason = EXCLUDED.reason, decision_id = EXCLUDED.decision_id, resolved_by = NULL, resolved_at = NULL,
            expires_at = EXCLUDED.expires_at
      WHERE approvals.run_id = EXCLUDED.run_id RETURNING *`,
    [
      newId('apr'),
      approval.workspaceId,
      approval.taskId,
      approval.runId,
      approval.stepId,
      approval.kernelApprovalId,
      approval.tool,
      approval.args,
      approval.reasonCode,
      approval.reason,
      approval.decisionId,
      approval.requestedBy,
      approval.startedBy,
      approval.expiresAt,
      now,
    ],
  );
  return approvalOf(onlyRow(rows));
}

/** An approval of the kernel belongs to one run for ever, so one run's approval never lets another one go on. */
export async function isApprovalOfOtherRun(
  tx: Sql,
  { kernelApprovalId, runId }: { kernelApprovalId: string; runId: string },
): Promise<boolean> {
  const { rowCount } = await tx.query('SELECT 1 FROM approvals WHERE kernel_approval_id = $1 AND run_id <> $2', [
    kernelApprovalId,
    runId,
  ]);
  return rowCount !== 0;
}

export type StoredApproval = WorkspaceApproval & { stepId: string };

export async function findApproval(sql: Sql, workspaceId: string, approvalId: string): Promise<StoredApproval | null> {
  if (!ApprovalId.safeParse(approvalId).success) return null;
  const { rows } = await sql.query<ApprovalRow>('SELECT * FROM approvals WHERE workspace_id = $1 AND id = $2', [
    workspaceId,
    approvalId,
  ]);
  const [row] = rows;
  return row === undefined ? null : { ...approvalOf(row), stepId: row.step_id };
}

/** Compare-and-set: null when it is not pending any more. */
export async function resolveApproval(
  tx: Sql,
  approvalId: string,
  resolution: { status: ApprovalStatus; resolvedBy: string | null; now: Date },
): Promise<WorkspaceApproval | null> {
  const { rows } = await tx.query<ApprovalRow>(
    `UPDATE approvals SET status = $2, resolved_by = $3, resolved_at = $4 WHERE id = $1 AND status = 'pending' RETURNING *`,
    [approvalId, resolution.status, resolution.resolvedBy, resolution.now],
  );
  const [row] = rows;
  return row === undefined ? null : approvalOf(row);
}

export async function cancelApprovalsOfRun(tx: Sql, runId: string, now: Date): Promise<WorkspaceApproval[]> {
  const { rows } = await tx.query<ApprovalRow>(
    `UPDATE approvals SET status = 'cancelled', resolved_at = $2 WHERE run_id = $1 AND status = 'pending' RETURNING *`,
    [runId, now],
  );
  return rows.map(approvalOf);
}

export type ExpiredApproval = { approvalId: string; workspaceId: string; runId: string; taskId: string };

/** Pending approvals whose time is over. */
export async function findExpired(tx: Sql, now: Date): Promise<ExpiredApproval[]> {
  const { rows } = await tx.query<ApprovalRow>(
    `SELECT * FROM approvals WHERE status = 'pending' AND expires_at <= $1 ORDER BY expires_at LIMIT 50`,
    [now],
  );
  return rows.map((row) => ({
    approvalId: row.id,
    workspaceId: row.workspace_id,
    runId: row.run_id,
    taskId: row.task_id,
  }));
}

export async function listApprovalsOf(
  sql: Sql,
  workspaceId: string,
  request: PageRequest & { status?: ApprovalStatus | undefined },
): Promise<Page<WorkspaceApproval>> {
  const { rows } = await sql.query<ApprovalRow>(
    `SELECT * FROM approvals WHERE workspace_id = $1 AND ($2::text IS NULL OR id < $2) AND ($3::text IS NULL OR status = $3)
      ORDER BY id DESC LIMIT $4`,
    [workspaceId, pageStart(request), request.status ?? null, request.limit + 1],
  );
  return pageOf(rows, request, { item: approvalOf, key: (row) => row.id });
}

function approvalOf(row: ApprovalRow): WorkspaceApproval {
  return {
    id: ApprovalId.parse(row.id),
    workspaceId: WorkspaceId.parse(row.workspace_id),
    taskId: TaskId.parse(row.task_id),
    runId: RunId.parse(row.run_id),
    status: ApprovalStatus.parse(row.status),
    tool: row.tool,
    args: WorkspaceApprovalShape.shape.args.parse(JSON.parse(row.args)),
    reasonCode: row.reason_code,
    reason: row.reason,
    requestedBy: row.requested_by,
    startedBy: UserId.parse(row.started_by),
    kernelApprovalId: ApprovalId.parse(row.kernel_approval_id),
    decisionId: DecisionId.nullable().parse(row.decision_id),
    resolvedBy: UserId.nullable().parse(row.resolved_by),
    resolvedAt: instantOrNull(row.resolved_at),
    expiresAt: instant(row.expires_at),
    createdAt: instant(row.created_at),
  };
}
