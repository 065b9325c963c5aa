import { RunId, TaskId, type Instant } from '@countersign/contracts';
import { CallReport } from '@countersign/contracts/gateway';
import type { CallReportModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';
import { olderThan, pageOf, type Page, type PageRequest } from './page.ts';

/** A failing loop fills no table: of a workspace only its newest are kept. */
export const reportsKeptMax = 1_000;

export type NewReport = { report: CallReport; userId: string; approvalId: string | null };

/** Keeps the reports of those who are members of the workspace that they name. A run and an approval lead to their task. */
export async function insertReports(tx: Tx, reports: readonly NewReport[]): Promise<void> {
  const rows = reports.map(({ report, userId, approvalId }) => ({
    id: report.id,
    workspace_id: report.workspaceId,
    user_id: userId,
    request_id: report.requestId,
    status: report.status,
    task_id: report.taskId,
    run_id: report.runId,
    approval_id: approvalId,
    report,
    created_at: report.createdAt,
  }));
  // Each look is by a key: a join might read whole tables, since nobody can know how many rows are in a text.
  await tx.$executeRaw`
    INSERT INTO call_reports (id, workspace_id, user_id, request_id, status, task_id, run_id, report, created_at)
    SELECT r.id, r.workspace_id, r.user_id, r.request_id, r.status,
           COALESCE(r.task_id,
                    (SELECT task_id FROM runs WHERE runs.id = r.run_id AND runs.workspace_id = r.workspace_id),
                    (SELECT task_id FROM approvals a WHERE a.id = r.approval_id AND a.workspace_id = r.workspace_id)),
           COALESCE(r.run_id,
                    (SELECT run_id FROM approvals a WHERE a.id = r.approval_id AND a.workspace_id = r.workspace_id)),
           r.report, r.created_at
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS r(id text, workspace_id text, user_id text, request_id text, status int, task_id text, run_id text,
             approval_id text, report jsonb, created_at timestamptz)
     WHERE (SELECT role FROM workspace_members m WHERE m.workspace_id = r.workspace_id AND m.user_id = r.user_id)
           IS NOT NULL`;
  for (const workspaceId of new Set(rows.map((row) => row.workspace_id)))
    await tx.$executeRaw`
      DELETE FROM call_reports WHERE workspace_id = ${workspaceId} AND id <= (
        SELECT id FROM call_reports WHERE workspace_id = ${workspaceId} ORDER BY id DESC OFFSET ${reportsKeptMax} LIMIT 1)`;
}

/** Whose failed calls somebody may see: their own, or everybody's of the workspace. */
type Reach = { workspaceId: string; userId: string | null };
type ReportFilter = {
  status?: number | undefined;
  /** Inclusive. */
  from?: Instant | undefined;
  /** Exclusive. */
  to?: Instant | undefined;
  taskId?: TaskId | undefined;
};

const within = ({ workspaceId, userId }: Reach) => ({ workspaceId, ...(userId !== null && { userId }) });

export async function listReportsOf(
  reader: Reader,
  reach: Reach,
  request: ReportFilter & PageRequest,
): Promise<Page<CallReport>> {
  const { status, from, to, taskId, limit } = request;
  const rows = await reader.callReport.findMany({
    where: {
      ...within(reach),
      id: olderThan(request),
      ...(status !== undefined && { status }),
      ...(taskId !== undefined && { taskId }),
      createdAt: { ...(from !== undefined && { gte: from }), ...(to !== undefined && { lt: to }) },
    },
    orderBy: { id: 'desc' },
    take: limit + 1,
  });
  return pageOf(rows, request, { item: reportOf, key: (row) => row.id });
}

/** The newest, for a caller may give several calls one id. */
export async function findReport(reader: Reader, reach: Reach, requestId: string): Promise<CallReport | null> {
  if (!/^[\x21-\x7e]{1,128}$/.test(requestId)) return null;
  const row = await reader.callReport.findFirst({ where: { ...within(reach), requestId }, orderBy: { id: 'desc' } });
  return row === null ? null : reportOf(row);
}

export async function forgetReports(tx: Tx, before: Date): Promise<void> {
  await tx.callReport.deleteMany({ where: { createdAt: { lt: before } } });
}

function reportOf({ report, taskId, runId }: CallReportModel): CallReport {
  return {
    ...CallReport.parse(report),
    taskId: taskId === null ? null : TaskId.parse(taskId),
    runId: runId === null ? null : RunId.parse(runId),
  };
}
