import { ApprovalId, WorkspaceId } from '@countersign/contracts';
import type { FailedCall } from '@countersign/service-kit';
import { build } from '../build.ts';
import type { Context } from '../context.ts';
import { personBehind } from '../guards.ts';
import { newId } from '../ids.ts';
import { addressedWorkspace, workspaceNames } from '../workspaces/addressed-workspace.ts';
import { reportOf, type ToldReport } from './report-of.ts';

/** Tells of each failed call in the log, and keeps it for a member whose call it was. */
export function tellFailedCall({ log, reports, now }: Pick<Context, 'log' | 'reports' | 'now'>) {
  return (call: FailedCall): void => {
    const person = personBehind(call.principal);
    const keyOf = person?.key?.membership.workspaceId ?? null;
    const workspaceId = addressedId(call) ?? keyOf;
    const principal = person?.actor ?? null;
    const report = reportOf(call, { id: newId('rpt'), version: build.version, now: now(), workspaceId, principal });
    log.info('call.failed', fieldsOf(report));
    if (person === null || principal === null || workspaceId === null) return;
    // A key is for one workspace. Of a person, the database knows whether he is a member.
    if (keyOf !== null && keyOf !== workspaceId) return;
    const approvalId = Object.values(report.pathIds).find((id) => ApprovalId.safeParse(id).success) ?? null;
    reports.add({ report: { ...report, workspaceId, principal }, userId: person.userId, approvalId });
  };
}

function addressedId({ req, route, params, query, received: body }: FailedCall): WorkspaceId | null {
  const addressed = addressedWorkspace(workspaceNames({ req, route, params, query, body }));
  if (addressed.kind !== 'named') return null;
  return WorkspaceId.safeParse(addressed.workspaceId).data ?? null;
}

function fieldsOf(report: ToldReport): Record<string, unknown> {
  return {
    request_id: report.requestId,
    method: report.method,
    path: report.path,
    path_ids: report.pathIds,
    operation: report.operation,
    workspace_id: report.workspaceId,
    status: report.status,
    error_code: report.errorCode,
    reason_code: report.reasonCode,
    auth: report.auth,
    principal: report.principal,
    task_id: report.taskId,
    run_id: report.runId,
    decision_id: report.decisionId,
    query: report.query,
    body: report.body,
    version: report.version,
  };
}
