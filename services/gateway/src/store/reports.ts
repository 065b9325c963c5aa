import { RunId, TaskId, type Instant } from '@countersign/contracts';
import { CallReport } from '@countersign/contracts/gateway';
import type { CallReportModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';
import { olderThan, pageOf, type Page, type PageRequest } from './page.ts';

/**
 * A failing loop must not fill the table, so only the newest reports of a workspace, and of a person outside of
 * workspaces, are stored.
 */
export const reportsKeptMax = 1_000;

export type NewReport = { report: CallReport; userId: string | null; approvalId: string | null };

/**
 * Stores the reports in the workspaces that they name. If the person is not a member there, the report belongs to the
 * person only. A report without workspace and person is dropped. A missing task is derived from the run or approval.
 */
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
  // Each row is read by its key: a join might read whole tables, since the planner cannot know how many rows are in the
  // JSON text.
  await tx.$executeRaw`
    INSERT INTO call_reports (id, workspace_id, user_id, request_id, status, task_id, run_id, report, created_at)
    SELECT r.id, r.place, r.user_id, r.request_id, r.status,
           COALESCE(r.task_id,
                    (SELECT task_id FROM runs WHERE runs.id = r.run_id AND runs.workspace_id = r.place),
                    (SELECT task_id FROM approvals a WHERE a.id = r.approval_id AND a.workspace_id = r.place)),
           COALESCE(r.run_id,
                    (SELECT run_id FROM approvals a WHERE a.id = r.approval_id AND a.workspace_id = r.place)),
           CASE WHEN r.place IS NULL THEN r.report || '{"workspaceId": null}' ELSE r.report END, r.created_at
      FROM (SELECT told.*,
                   CASE WHEN told.user_id IS NULL
                        THEN (SELECT w.id FROM workspaces w WHERE w.id = told.workspace_id)
                        ELSE (SELECT m.workspace_id FROM workspace_members m
                               WHERE m.workspace_id = told.workspace_id AND m.user_id = told.user_id) END AS place
              FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
                AS told(id text, workspace_id text, user_id text, request_id text, status int, task_id text,
                        run_id text, approval_id text, report jsonb, created_at timestamptz)) r
     WHERE r.place IS NOT NULL OR r.user_id IS NOT NULL`;
  for (const workspaceId of named(rows.map((row) => row.workspace_id)))
    await tx.$executeRaw`
      DELETE FROM call_reports WHERE workspace_id = ${workspaceId} AND id <= (
        SELECT id FROM call_reports WHERE workspace_id = ${workspaceId} ORDER BY id DESC OFFSET ${reportsKeptMax} LIMIT 1)`;
  for (const userId of named(rows.map((row) => row.user_id)))
    await tx.$executeRaw`
      DELETE FROM call_reports WHERE workspace_id IS NULL AND user_id = ${userId} AND id <= (
        SELECT id FROM call_reports WHERE workspace_id IS NULL AND user_id = ${userId}
         ORDER BY id DESC OFFSET ${reportsKeptMax} LIMIT 1)`;
}

const named = (ids: readonly (string | null)[]) => new Set(ids.filter((id) => id !== null));

/** The failed calls that a person may see: their own, or all of the workspace. */
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

type Sought = Reach & {
  requestId: string;
  /** The person who may also see their own calls outside of workspaces. `null` for a key or a program. */
  personId: string | null;
};

/**
 * The newest report with this request id, since a caller may repeat an id. One's own reports come before those of
 * others, who may have copied the id.
 */
export async function findReport(
  reader: Reader,
  { personId, requestId, ...reach }: Sought,
): Promise<CallReport | null> {
  if (!/^[\x21-\x7e]{1,128}$/.test(requestId)) return null;
  const newestOf = (where: object) =>
    reader.callReport.findFirst({ where: { ...where, requestId }, orderBy: { id: 'desc' } });
  const { workspaceId } = reach;
  const own =
    personId === null
      ? []
      : [
          { workspaceId, userId: personId },
          { workspaceId: null, userId: personId },
        ];
  for (const where of [...own, within(reach)]) {
    const row = await newestOf(where);
    if (row !== null) return reportOf(row);
  }
  return null;
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
