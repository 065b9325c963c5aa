import { AppError } from '@countersign/contracts';
import { isUnavailable } from '@countersign/database';
import { createHttpApp, healthEndpoints, type Endpoint, type HttpApp, type Lifecycle } from '@countersign/service-kit';
import type { Context } from './context.ts';
import { guardsOf, handlesOf } from './handle.ts';
import { readinessChecks } from './health.ts';
import { createTaskRoute } from './routes/create-task.ts';
import { endSessionRoute } from './routes/end-session.ts';
import { getGovernanceReceiptRoute } from './routes/get-governance-receipt.ts';
import { getGovernanceStatusRoute } from './routes/get-governance-status.ts';
import { getHealthRoute } from './routes/get-health.ts';
import { getWorkspaceSettingsRoute } from './routes/get-workspace-settings.ts';
import { getWorkspaceRoute } from './routes/get-workspace.ts';
import { listAuditRoute } from './routes/list-audit.ts';
import { listGovernanceReceiptsRoute } from './routes/list-governance-receipts.ts';
import { listModesRoute } from './routes/list-modes.ts';
import { listRunsRoute } from './routes/list-runs.ts';
import { listTasksRoute } from './routes/list-tasks.ts';
import { listViolationsRoute } from './routes/list-violations.ts';
import { listWorkspaceApprovalsRoute } from './routes/list-workspace-approvals.ts';
import { putTaskStatusRoute } from './routes/put-task-status.ts';
import { putWorkspaceModeRoute } from './routes/put-workspace-mode.ts';
import { putWorkspaceSettingsRoute } from './routes/put-workspace-settings.ts';
import { requestEmailCodeRoute } from './routes/request-email-code.ts';
import { resolveWorkspaceApprovalRoute } from './routes/resolve-workspace-approval.ts';
import { runTaskRoute } from './routes/run-task.ts';
import { verifyEmailCodeRoute } from './routes/verify-email-code.ts';
import { idempotencyStore } from './store/idempotency.ts';

export function createApp(context: Context, lifecycle: Pick<Lifecycle, 'isStopping'>): HttpApp {
  return createHttpApp({
    endpoints: [...endpointsOf(context), ...healthEndpoints(readinessChecks(context), lifecycle)],
    guards: guardsOf(context),
    log: context.log,
    cors: { origins: context.config.allowedOrigins },
    rateLimiter: context.rateLimiter,
    idempotency: idempotencyStore(context.database.pool),
    classifyErrors: [storeFault],
    callerKey,
    trustedProxies: context.config.trustedProxies,
    guardQuery: ['workspaceId'],
  });
}

function endpointsOf(context: Context): Endpoint[] {
  const handles = handlesOf(context);
  return [
    getHealthRoute(context),
    listModesRoute(),
    requestEmailCodeRoute(context),
    verifyEmailCodeRoute(context),
    endSessionRoute(context, handles),
    getWorkspaceRoute(context, handles),
    getWorkspaceSettingsRoute(context, handles),
    putWorkspaceSettingsRoute(context, handles),
    putWorkspaceModeRoute(context, handles),
    listTasksRoute(context, handles),
    createTaskRoute(context, handles),
    putTaskStatusRoute(context, handles),
    runTaskRoute(context, handles),
    listRunsRoute(context, handles),
    listAuditRoute(context, handles),
    listWorkspaceApprovalsRoute(context, handles),
    resolveWorkspaceApprovalRoute(context, handles),
    listViolationsRoute(context, handles),
    getGovernanceStatusRoute(context, handles),
    listGovernanceReceiptsRoute(context, handles),
    getGovernanceReceiptRoute(context, handles),
  ];
}

function storeFault(error: unknown): AppError | null {
  if (!isUnavailable(error)) return null;
  return new AppError('STORE_UNAVAILABLE', 'The database does not answer', {
    cause: error,
    headers: { 'retry-after': '1' },
  });
}

/** A key of one workspace must not answer for another, although both requests look alike. */
function callerKey(caller: unknown): string | null {
  if (typeof caller !== 'object' || caller === null || !('session' in caller)) return null;
  const { session } = caller as { session: { user: { id: string } } }; // our guards put nothing else there
  return 'workspaceId' in caller ? `${session.user.id} ${String(caller.workspaceId)}` : session.user.id;
}
