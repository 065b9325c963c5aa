import { ApprovalId, WorkspaceId } from '@countersign/contracts';
import { build, type FailedCall } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { findTold } from '../forwarding/told-by-service.ts';
import { newId } from '../ids.ts';
import { addressedWorkspace, workspaceNames } from '../workspaces/addressed-workspace.ts';
import { attributionOf, reportFor, type Attribution } from './attribute.ts';
import { reportOf, type ToldReport } from './report-of.ts';

type Deps = Pick<Context, 'log' | 'reports' | 'unjudgedReports' | 'now'> & {
  /** Finds the caller of a request that is not authorized yet. */
  whoBrought(req: FailedCall['req']): Promise<unknown>;
};

/** Logs each failed call, and stores a report for its caller. */
export function tellFailedCall(deps: Deps) {
  const { log, reports, unjudgedReports, now } = deps;
  return (call: FailedCall): void => {
    const addressed = addressedId(call);
    const whose = attributionOf(call.principal, { addressed, identified: findTold(call)?.caller ?? null });
    const [workspaceId, principal] = [addressed ?? whose?.workspaceId ?? null, whose?.principal ?? null];
    const report = reportOf(call, { id: newId('rpt'), version: build.version, now: now(), workspaceId, principal });
    log.info('call.failed', fieldsOf(report));
    const approvalId = Object.values(report.pathIds).find((id) => ApprovalId.safeParse(id).success) ?? null;
    if (whose !== null) reports.add(reportFor({ report, approvalId }, whose));
    else if (isUnjudged(call))
      unjudgedReports.add({ report, approvalId, whose: laterKnown(deps, call.req, addressed) });
  };
}

/**
 * Whether the call was refused before its caller was identified, or has no route. Callers with an invalid credential or
 * over the rate limit are not looked up.
 */
function isUnjudged({ principal, status }: FailedCall): boolean {
  return principal === undefined && status !== 401 && status !== 429;
}

/** Looks up the caller when the report is stored, after the answer. Keeps no received body in memory until then. */
function laterKnown({ whoBrought }: Deps, req: FailedCall['req'], addressed: WorkspaceId | null) {
  return async (): Promise<Attribution | null> => attributionOf(await whoBrought(req), { addressed, identified: null });
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
