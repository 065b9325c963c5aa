import { ApprovalId, WorkspaceId } from '@countersign/contracts';
import { build, type FailedCall } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { findTold } from '../forwarding/told-by-service.ts';
import { whoBrought } from '../guards.ts';
import { newId } from '../ids.ts';
import { addressedWorkspace, workspaceNames } from '../workspaces/addressed-workspace.ts';
import { attributionOf, reportFor, type Attribution } from './attribute.ts';
import { reportOf, type ToldReport } from './report-of.ts';

/** Tells of each failed call in the log, and keeps it for whose call it was. */
export function tellFailedCall(context: Context) {
  const { log, reports, unjudgedReports, now } = context;
  return (call: FailedCall): void => {
    const addressed = addressedId(call);
    const whose = attributionOf(call.principal, { addressed, told: findTold(call)?.caller ?? null });
    const [workspaceId, principal] = [addressed ?? whose?.workspaceId ?? null, whose?.principal ?? null];
    const report = reportOf(call, { id: newId('rpt'), version: build.version, now: now(), workspaceId, principal });
    log.info('call.failed', fieldsOf(report));
    const approvalId = Object.values(report.pathIds).find((id) => ApprovalId.safeParse(id).success) ?? null;
    if (whose !== null) reports.add(reportFor({ report, approvalId }, whose));
    else if (isUnjudged(call))
      unjudgedReports.add({ report, approvalId, whose: laterKnown(context, call.req, addressed) });
  };
}

/**
 * It was refused before its caller was identified: no route has its path. Callers over the rate limit are not looked
 * up.
 */
function isUnjudged({ principal, status }: FailedCall): boolean {
  return principal === undefined && status !== 401 && status !== 429;
}

/** Asked when the report is kept, after the answer. It holds on to no body that was received. */
function laterKnown(context: Context, req: FailedCall['req'], addressed: WorkspaceId | null) {
  return async (): Promise<Attribution | null> =>
    attributionOf(await whoBrought(context, req), { addressed, told: null });
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
