import { isUnavailable } from '@countersign/database';
import {
  createHttpApp,
  docsEndpoint,
  healthEndpoints,
  healthPageEndpoint,
  httpOptionsOf,
  mountMetrics,
  openApiEndpoint,
  storeOutage,
  type Endpoint,
  type HttpApp,
  type HealthCheck,
  type Lifecycle,
} from '@countersign/service-kit';
import type { Context } from './context.ts';
import { callerKey, createGuards } from './guards.ts';
import { readinessChecks, toldChecks } from './health.ts';
import { tellFailedCall } from './reports/tell-failed-call.ts';
import { acceptInviteRoute } from './routes/accept-invite.ts';
import { applyWorkspaceSettingsRoute } from './routes/apply-workspace-settings.ts';
import { createApiKeyRoute } from './routes/create-api-key.ts';
import { createInviteRoute } from './routes/create-invite.ts';
import { createSubscriptionRoute } from './routes/create-subscription.ts';
import { createTaskRoute } from './routes/create-task.ts';
import { deleteTaskRoute } from './routes/delete-task.ts';
import { endSessionRoute } from './routes/end-session.ts';
import { endSubscriptionRoute } from './routes/end-subscription.ts';
import { exportAuditRoute } from './routes/export-audit.ts';
import { followEventsRoute } from './routes/follow-events.ts';
import { forwardRoutes } from './routes/forward.ts';
import { frontPageRoute } from './routes/front-page.ts';
import { getCapabilityRoute } from './routes/get-capability.ts';
import { getGovernanceReceiptRoute } from './routes/get-governance-receipt.ts';
import { getGovernanceStatusRoute } from './routes/get-governance-status.ts';
import { getHealthRoute } from './routes/get-health.ts';
import { getMeRoute } from './routes/get-me.ts';
import { joinByInviteRoute } from './routes/join-by-invite.ts';
import { listInvitesToMeRoute } from './routes/list-invites-to-me.ts';
import { getReportRoute } from './routes/get-report.ts';
import { getRunRoute } from './routes/get-run.ts';
import { getTaskRoute } from './routes/get-task.ts';
import { getWorkspaceSettingsRoute } from './routes/get-workspace-settings.ts';
import { checkResolverRoute } from './routes/check-resolver.ts';
import { getWorkspaceApprovalRoute } from './routes/get-workspace-approval.ts';
import { getWorkspaceRoute } from './routes/get-workspace.ts';
import { leaveWorkspaceRoute } from './routes/leave-workspace.ts';
import { listApiKeysRoute } from './routes/list-api-keys.ts';
import { listAuditRoute } from './routes/list-audit.ts';
import { listCapabilitiesRoute } from './routes/list-capabilities.ts';
import { listGovernanceReceiptsRoute } from './routes/list-governance-receipts.ts';
import { listInvitesRoute } from './routes/list-invites.ts';
import { listModesRoute } from './routes/list-modes.ts';
import { listNotificationsRoute } from './routes/list-notifications.ts';
import { listReportsRoute } from './routes/list-reports.ts';
import { listRunsRoute } from './routes/list-runs.ts';
import { listSessionsRoute } from './routes/list-sessions.ts';
import { listSubscriptionsRoute } from './routes/list-subscriptions.ts';
import { listTasksRoute } from './routes/list-tasks.ts';
import { listViolationsRoute } from './routes/list-violations.ts';
import { listWorkspaceApprovalsRoute } from './routes/list-workspace-approvals.ts';
import { listWorkspaceRunsRoute } from './routes/list-workspace-runs.ts';
import { openWorkspaceRoute } from './routes/open-workspace.ts';
import { proveAddressRoute } from './routes/prove-address.ts';
import { proveUserRoute } from './routes/prove-user.ts';
import { putMemberRoleRoute } from './routes/put-member-role.ts';
import { putTaskStatusRoute } from './routes/put-task-status.ts';
import { putTaskRoute } from './routes/put-task.ts';
import { putWorkspaceRoute } from './routes/put-workspace.ts';
import { putWorkspaceModeRoute } from './routes/put-workspace-mode.ts';
import { putWorkspaceSettingsRoute } from './routes/put-workspace-settings.ts';
import { redriveNotificationRoute } from './routes/redrive-notification.ts';
import { removeMemberRoute } from './routes/remove-member.ts';
import { requestEmailCodeRoute } from './routes/request-email-code.ts';
import { resolveWorkspaceApprovalRoute } from './routes/resolve-workspace-approval.ts';
import { revokeApiKeyRoute } from './routes/revoke-api-key.ts';
import { revokeInviteRoute } from './routes/revoke-invite.ts';
import { revokeSessionRoute } from './routes/revoke-session.ts';
import { rotateWebhookSecretRoute } from './routes/rotate-webhook-secret.ts';
import { runTaskRoute } from './routes/run-task.ts';
import { sendSignInCodeRoute } from './routes/send-sign-in-code.ts';
import { tellMembersRoute } from './routes/tell-members.ts';
import { sendUserCodeRoute } from './routes/send-user-code.ts';
import { showInviteRoute } from './routes/show-invite.ts';
import { signInByMessengerRoute } from './routes/sign-in-by-messenger.ts';
import { startRunRoute } from './routes/start-run.ts';
import { verifyEmailCodeRoute } from './routes/verify-email-code.ts';

export type Running = { lifecycle: Pick<Lifecycle, 'isStopping'>; workers: { check: HealthCheck } };

export function createApp(context: Context, { lifecycle, workers }: Running): HttpApp {
  return createHttpApp({
    ...httpOptionsOf(context.config),
    endpoints: [
      ...endpointsOf(context),
      ...healthEndpoints(readinessChecks(context), lifecycle, toldChecks(context, workers)),
    ],
    guards: createGuards(context),
    log: context.log,
    telemetry: context.telemetry,
    classifyErrors: [storeOutage(isUnavailable)],
    callerKey,
    onFailed: tellFailedCall(context),
    guardQuery: ['workspaceId'],
  });
}

/** A port of its own for probes and for Prometheus, which the world does not reach. */
export function createHealthApp(context: Context, { lifecycle, workers }: Running): HttpApp {
  return createHttpApp({
    endpoints: [
      healthPageEndpoint('Countersign gateway'),
      ...healthEndpoints(readinessChecks(context), lifecycle, toldChecks(context, workers)),
    ],
    guards: createGuards(context),
    log: context.log,
    hosts: context.config.allowedHosts,
    mount: mountMetrics(context.telemetry),
  });
}

function endpointsOf(context: Context): Endpoint[] {
  return [
    frontPageRoute(context),
    openApiEndpoint('gateway'),
    docsEndpoint('gateway'),
    getHealthRoute(context),
    listModesRoute(),
    ...signInEndpointsOf(context),
    ...invitedEndpointsOf(context),
    getMeRoute(context),
    getWorkspaceRoute(context),
    openWorkspaceRoute(context),
    putWorkspaceRoute(context),
    applyWorkspaceSettingsRoute(context),
    getWorkspaceSettingsRoute(context),
    putWorkspaceSettingsRoute(context),
    putWorkspaceModeRoute(context),
    createInviteRoute(context),
    listInvitesRoute(context),
    revokeInviteRoute(context),
    putMemberRoleRoute(context),
    removeMemberRoute(context),
    leaveWorkspaceRoute(context),
    createSubscriptionRoute(context),
    listSubscriptionsRoute(context),
    endSubscriptionRoute(context),
    rotateWebhookSecretRoute(context),
    listNotificationsRoute(context),
    redriveNotificationRoute(context),
    listTasksRoute(context),
    createTaskRoute(context),
    getTaskRoute(context),
    putTaskRoute(context),
    deleteTaskRoute(context),
    putTaskStatusRoute(context),
    runTaskRoute(context),
    listRunsRoute(context),
    getRunRoute(context),
    listWorkspaceRunsRoute(context),
    startRunRoute(context),
    listAuditRoute(context),
    exportAuditRoute(context),
    followEventsRoute(context),
    listWorkspaceApprovalsRoute(context),
    checkResolverRoute(context),
    getWorkspaceApprovalRoute(context),
    resolveWorkspaceApprovalRoute(context),
    listViolationsRoute(context),
    listReportsRoute(context),
    getReportRoute(context),
    listCapabilitiesRoute(context),
    getCapabilityRoute(context),
    getGovernanceStatusRoute(context),
    listGovernanceReceiptsRoute(context),
    getGovernanceReceiptRoute(context),
    ...siblingEndpointsOf(context),
    ...forwardRoutes(context),
  ];
}

/** What an invited person does. */
function invitedEndpointsOf(context: Context): Endpoint[] {
  return [
    showInviteRoute(context),
    acceptInviteRoute(context),
    listInvitesToMeRoute(context),
    joinByInviteRoute(context),
  ];
}

/** How somebody comes in, by a session or by a key. */
function signInEndpointsOf(context: Context): Endpoint[] {
  return [
    requestEmailCodeRoute(context),
    verifyEmailCodeRoute(context),
    signInByMessengerRoute(context),
    endSessionRoute(context),
    listSessionsRoute(context),
    revokeSessionRoute(context),
    createApiKeyRoute(context),
    listApiKeysRoute(context),
    revokeApiKeyRoute(context),
  ];
}

/** What other services of ours ask for. */
function siblingEndpointsOf(context: Context): Endpoint[] {
  return [
    sendSignInCodeRoute(context),
    proveAddressRoute(context),
    sendUserCodeRoute(context),
    proveUserRoute(context),
    tellMembersRoute(context),
  ];
}
