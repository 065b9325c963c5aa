import { isUnavailable } from '@countersign/database';
import {
  createHttpApp,
  healthEndpoints,
  healthPageEndpoint,
  httpOptionsOf,
  mountMetrics,
  openApiEndpoint,
  storeOutage,
  type Endpoint,
  type HttpApp,
  type Lifecycle,
} from '@countersign/service-kit';
import type { Context } from './context.ts';
import { callerKey, createGuards } from './guards.ts';
import { readinessChecks, toldChecks } from './health.ts';
import { answerDeviceLoginRoute } from './routes/answer-device-login.ts';
import { beginDeviceLoginRoute } from './routes/begin-device-login.ts';
import { approvePlanRoute } from './routes/approve-plan.ts';
import { commitPlanRoute } from './routes/commit-plan.ts';
import { createPlanRoute } from './routes/create-plan.ts';
import { getPlanRoute } from './routes/get-plan.ts';
import { activatePolicyRoute } from './routes/activate-policy.ts';
import { compilePolicyDraftRoute } from './routes/compile-policy-draft.ts';
import { createBlastRadiusRoute } from './routes/create-blast-radius.ts';
import { createSupportReportRoute } from './routes/create-support-report.ts';
import { createSessionTicketRoute } from './routes/create-session-ticket.ts';
import { getSnapshotRoute } from './routes/get-snapshot.ts';
import { openConsoleSocketRoute } from './routes/open-console-socket.ts';
import { openTelemetrySocketRoute } from './routes/open-telemetry-socket.ts';
import { createIncidentRoute } from './routes/create-incident.ts';
import { createPolicyTestRoute } from './routes/create-policy-test.ts';
import { createWhatIfRoute } from './routes/create-what-if.ts';
import { getActivePolicyRoute } from './routes/get-active-policy.ts';
import { getPolicyDraftRoute } from './routes/get-policy-draft.ts';
import { getWhatIfRoute } from './routes/get-what-if.ts';
import { deletePolicyShadowRoute } from './routes/delete-policy-shadow.ts';
import { putPolicyShadowRoute } from './routes/put-policy-shadow.ts';
import { putPolicyDraftRoute } from './routes/put-policy-draft.ts';
import { beginLoginRoute } from './routes/begin-login.ts';
import { bootstrapOrgRoute } from './routes/bootstrap-org.ts';
import { getBootstrapRoute } from './routes/get-bootstrap.ts';
import { listConsoleWorkspacesRoute } from './routes/list-console-workspaces.ts';
import { createConsoleWorkspaceRoute } from './routes/create-console-workspace.ts';
import { getConsoleWorkspaceRoute } from './routes/get-console-workspace.ts';
import { putConsoleWorkspaceRoute } from './routes/put-console-workspace.ts';
import { createConsoleMemberRoute } from './routes/create-console-member.ts';
import { putConsoleMemberRoute } from './routes/put-console-member.ts';
import { deleteConsoleMemberRoute } from './routes/delete-console-member.ts';
import { createConsoleRunRoute } from './routes/create-console-run.ts';
import { beginPasskeyRoute } from './routes/begin-passkey.ts';
import { beginReauthRoute } from './routes/begin-reauth.ts';
import { createDeviceTokenRoute } from './routes/create-device-token.ts';
import { createEvidenceHandleRoute } from './routes/create-evidence-handle.ts';
import { getEvidenceHandleRoute } from './routes/get-evidence-handle.ts';
import { listEvidenceHandlesRoute } from './routes/list-evidence-handles.ts';
import { revokeEvidenceHandleRoute } from './routes/revoke-evidence-handle.ts';
import { getPublicApprovalRoute } from './routes/get-public-approval.ts';
import { getPublicReceiptRoute } from './routes/get-public-receipt.ts';
import { createReplayRoute } from './routes/create-replay.ts';
import { getPublicReplayRoute } from './routes/get-public-replay.ts';
import { getReplayRoute } from './routes/get-replay.ts';
import { checkExportRoute } from './routes/check-export.ts';
import { getSigningKeyRoute } from './routes/get-signing-key.ts';
import { deleteSessionRoute } from './routes/delete-session.ts';
import { exportAuditEntriesRoute } from './routes/export-audit-entries.ts';
import { endCredentialRoute } from './routes/end-credential.ts';
import { finishLoginRoute } from './routes/finish-login.ts';
import { finishOidcLoginRoute } from './routes/finish-oidc-login.ts';
import { listOidcConnectionsRoute } from './routes/list-oidc-connections.ts';
import { finishPasskeyRoute } from './routes/finish-passkey.ts';
import { finishReauthRoute } from './routes/finish-reauth.ts';
import { freezeTargetRoute } from './routes/freeze-target.ts';
import { frontPageRoute } from './routes/front-page.ts';
import { getConsoleFileRoute } from './routes/get-console-file.ts';
import { getConsoleRunRoute } from './routes/get-console-run.ts';
import { getDeviceLoginRoute } from './routes/get-device-login.ts';
import { getHealthRoute } from './routes/get-health.ts';
import { getIncidentRoute } from './routes/get-incident.ts';
import { listOpsTargetsRoute } from './routes/list-ops-targets.ts';
import { getOpsRoute } from './routes/get-ops.ts';
import { getSessionRoute } from './routes/get-session.ts';
import { introspectSessionRoute } from './routes/introspect-session.ts';
import { listAuditEntriesRoute } from './routes/list-audit-entries.ts';
import { createConsoleTaskRoute } from './routes/create-console-task.ts';
import { listConsoleActionsRoute } from './routes/list-console-actions.ts';
import { listConsoleTasksRoute } from './routes/list-console-tasks.ts';
import { listConsoleToolsRoute } from './routes/list-console-tools.ts';
import { listToolDriftRoute } from './routes/list-tool-drift.ts';
import { listConsoleRunsRoute } from './routes/list-console-runs.ts';
import { listInboxApprovalsRoute } from './routes/list-inbox-approvals.ts';
import { listIncidentsRoute } from './routes/list-incidents.ts';
import { listRunReceiptsRoute } from './routes/list-run-receipts.ts';
import { listLiveSessionsRoute } from './routes/list-live-sessions.ts';
import { quarantineTargetRoute } from './routes/quarantine-target.ts';
import { resyncTargetRoute } from './routes/resync-target.ts';
import { resumeTargetRoute } from './routes/resume-target.ts';
import { refreshSessionRoute } from './routes/refresh-session.ts';
import { resolveApprovalRoute } from './routes/resolve-approval.ts';
import { showConsoleRoutes } from './routes/show-console.ts';
import { throttleTargetRoute } from './routes/throttle-target.ts';
import { transitionIncidentRoute } from './routes/transition-incident.ts';

type Running = { lifecycle: Pick<Lifecycle, 'isStopping'> };

export function createApp(context: Context, { lifecycle }: Running): HttpApp {
  return createHttpApp({
    ...httpOptionsOf(context.config),
    endpoints: [...endpointsOf(context), ...healthEndpoints(readinessChecks(context), lifecycle, toldChecks(context))],
    guards: createGuards(context),
    log: context.log,
    telemetry: context.telemetry,
    classifyErrors: [storeOutage(isUnavailable)],
    callerKey,
  });
}

/** A port of its own for probes and for Prometheus, which the world does not reach. */
export function createHealthApp(context: Context, { lifecycle }: Running): HttpApp {
  return createHttpApp({
    endpoints: [
      healthPageEndpoint('Countersign control plane'),
      ...healthEndpoints(readinessChecks(context), lifecycle, toldChecks(context)),
    ],
    guards: createGuards(context),
    log: context.log,
    hosts: context.config.allowedHosts,
    mount: mountMetrics(context.telemetry),
  });
}

function endpointsOf(context: Context): Endpoint[] {
  return [
    frontPageRoute(),
    openApiEndpoint('control-plane'),
    getHealthRoute(context),
    beginLoginRoute(context),
    finishLoginRoute(context),
    listOidcConnectionsRoute(context),
    finishOidcLoginRoute(context),
    refreshSessionRoute(context),
    beginPasskeyRoute(context),
    finishPasskeyRoute(context),
    beginReauthRoute(context),
    finishReauthRoute(context),
    beginDeviceLoginRoute(context),
    createDeviceTokenRoute(context),
    getDeviceLoginRoute(context),
    answerDeviceLoginRoute(context),
    getSessionRoute(context),
    deleteSessionRoute(context),
    listAuditEntriesRoute(context),
    exportAuditEntriesRoute(context),
    endCredentialRoute(context),
    introspectSessionRoute(context),
    listInboxApprovalsRoute(context),
    resolveApprovalRoute(context),
    ...showConsoleRoutes(context),
    getConsoleFileRoute(context),
    ...orgEndpointsOf(context),
    ...proofEndpointsOf(context),
    createConsoleRunRoute(context),
    listConsoleRunsRoute(context),
    getConsoleRunRoute(context),
    listRunReceiptsRoute(context),
    createConsoleTaskRoute(context),
    listConsoleTasksRoute(context),
    listConsoleActionsRoute(context),
    listConsoleToolsRoute(context),
    listLiveSessionsRoute(context),
    activatePolicyRoute(context),
    compilePolicyDraftRoute(context),
    createPolicyTestRoute(context),
    createWhatIfRoute(context),
    getActivePolicyRoute(context),
    getPolicyDraftRoute(context),
    getWhatIfRoute(context),
    putPolicyDraftRoute(context),
    putPolicyShadowRoute(context),
    deletePolicyShadowRoute(context),
    ...opsEndpointsOf(context),
    ...realtimeEndpointsOf(context),
  ];
}

/** What operators do in an emergency, and what they look at first. */
function opsEndpointsOf(context: Context): Endpoint[] {
  return [
    getOpsRoute(context),
    listOpsTargetsRoute(context),
    listToolDriftRoute(context),
    freezeTargetRoute(context),
    throttleTargetRoute(context),
    quarantineTargetRoute(context),
    resumeTargetRoute(context),
    resyncTargetRoute(context),
    listIncidentsRoute(context),
    createIncidentRoute(context),
    getIncidentRoute(context),
    transitionIncidentRoute(context),
    createSupportReportRoute(context),
    createBlastRadiusRoute(context),
    createPlanRoute(context),
    getPlanRoute(context),
    approvePlanRoute(context),
    commitPlanRoute(context),
  ];
}

/** How pages hear of what changes. */
function realtimeEndpointsOf(context: Context): Endpoint[] {
  return [
    createSessionTicketRoute(context),
    openConsoleSocketRoute(context),
    openTelemetrySocketRoute(context),
    getSnapshotRoute(context),
  ];
}

/** Organisations, their workspaces, and who belongs to those. */
function orgEndpointsOf(context: Context): Endpoint[] {
  return [
    bootstrapOrgRoute(context),
    getBootstrapRoute(context),
    listConsoleWorkspacesRoute(context),
    createConsoleWorkspaceRoute(context),
    getConsoleWorkspaceRoute(context),
    putConsoleWorkspaceRoute(context),
    createConsoleMemberRoute(context),
    putConsoleMemberRoute(context),
    deleteConsoleMemberRoute(context),
  ];
}

/** Handles of evidence, replays, and what the world may read or ask. */
function proofEndpointsOf(context: Context): Endpoint[] {
  return [
    createEvidenceHandleRoute(context),
    getEvidenceHandleRoute(context),
    listEvidenceHandlesRoute(context),
    revokeEvidenceHandleRoute(context),
    getPublicReceiptRoute(context),
    getPublicApprovalRoute(context),
    getSigningKeyRoute(context),
    checkExportRoute(context),
    createReplayRoute(context),
    getReplayRoute(context),
    getPublicReplayRoute(context),
  ];
}
