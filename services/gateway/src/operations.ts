import type { gatewayRoutes } from '@countersign/contracts/routes';
import type { Operations } from '@countersign/service-kit';
import type { Context } from './context.ts';
import { acceptInviteRoute } from './routes/accept-invite.ts';
import { applyWorkspaceSettingsRoute } from './routes/apply-workspace-settings.ts';
import { checkResolverRoute } from './routes/check-resolver.ts';
import { createApiKeyRoute } from './routes/create-api-key.ts';
import { createInviteRoute } from './routes/create-invite.ts';
import { createSubscriptionRoute } from './routes/create-subscription.ts';
import { createTaskRoute } from './routes/create-task.ts';
import { deleteTaskRoute } from './routes/delete-task.ts';
import { endSessionRoute } from './routes/end-session.ts';
import { endSubscriptionRoute } from './routes/end-subscription.ts';
import { exportAuditRoute } from './routes/export-audit.ts';
import { followEventsRoute } from './routes/follow-events.ts';
import { findSoleOwnerRoute } from './routes/find-sole-owner.ts';
import { getCapabilityRoute } from './routes/get-capability.ts';
import { getGovernanceReceiptRoute } from './routes/get-governance-receipt.ts';
import { getGovernanceStatusRoute } from './routes/get-governance-status.ts';
import { getHealthRoute } from './routes/get-health.ts';
import { getMeRoute } from './routes/get-me.ts';
import { getReportRoute } from './routes/get-report.ts';
import { getRunRoute } from './routes/get-run.ts';
import { getTaskRoute } from './routes/get-task.ts';
import { getWorkspaceApprovalRoute } from './routes/get-workspace-approval.ts';
import { getWorkspaceSettingsRoute } from './routes/get-workspace-settings.ts';
import { getWorkspaceRoute } from './routes/get-workspace.ts';
import { joinByInviteRoute } from './routes/join-by-invite.ts';
import { leaveWorkspaceRoute } from './routes/leave-workspace.ts';
import { listApiKeysRoute } from './routes/list-api-keys.ts';
import { listAuditRoute } from './routes/list-audit.ts';
import { listCapabilitiesRoute } from './routes/list-capabilities.ts';
import { listGovernanceReceiptsRoute } from './routes/list-governance-receipts.ts';
import { listInvitesToMeRoute } from './routes/list-invites-to-me.ts';
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
import { putWorkspaceModeRoute } from './routes/put-workspace-mode.ts';
import { putWorkspaceSettingsRoute } from './routes/put-workspace-settings.ts';
import { putWorkspaceRoute } from './routes/put-workspace.ts';
import { emitEventRoute } from './routes/emit-event.ts';
import { listDeliveriesRoute } from './routes/list-deliveries.ts';
import { redriveDeliveryRoute } from './routes/redrive-delivery.ts';
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
import { sendUserCodeRoute } from './routes/send-user-code.ts';
import { showFrontPageRoute } from './routes/show-front-page.ts';
import { showInviteRoute } from './routes/show-invite.ts';
import { signInByMessengerRoute } from './routes/sign-in-by-messenger.ts';
import { startRunRoute } from './routes/start-run.ts';
import { getLaneRoute } from './routes/get-lane.ts';
import { putLaneRoute } from './routes/put-lane.ts';
import { tellMembersRoute } from './routes/tell-members.ts';
import { verifyEmailCodeRoute } from './routes/verify-email-code.ts';

/** The endpoint of each route of the gateway. */
export const operations: Operations<typeof gatewayRoutes, Context> = {
  showFrontPage: showFrontPageRoute,
  getHealth: getHealthRoute,
  listModes: listModesRoute,
  requestEmailCode: requestEmailCodeRoute,
  verifyEmailCode: verifyEmailCodeRoute,
  signInByMessenger: signInByMessengerRoute,
  endSession: endSessionRoute,
  listSessions: listSessionsRoute,
  revokeSession: revokeSessionRoute,
  createApiKey: createApiKeyRoute,
  listApiKeys: listApiKeysRoute,
  revokeApiKey: revokeApiKeyRoute,
  showInvite: showInviteRoute,
  acceptInvite: acceptInviteRoute,
  getMe: getMeRoute,
  listInvitesToMe: listInvitesToMeRoute,
  joinByInvite: joinByInviteRoute,
  getWorkspace: getWorkspaceRoute,
  openWorkspace: openWorkspaceRoute,
  putWorkspace: putWorkspaceRoute,
  applyWorkspaceSettings: applyWorkspaceSettingsRoute,
  getWorkspaceSettings: getWorkspaceSettingsRoute,
  putWorkspaceSettings: putWorkspaceSettingsRoute,
  putWorkspaceMode: putWorkspaceModeRoute,
  createInvite: createInviteRoute,
  listInvites: listInvitesRoute,
  revokeInvite: revokeInviteRoute,
  putMemberRole: putMemberRoleRoute,
  removeMember: removeMemberRoute,
  leaveWorkspace: leaveWorkspaceRoute,
  createSubscription: createSubscriptionRoute,
  listSubscriptions: listSubscriptionsRoute,
  endSubscription: endSubscriptionRoute,
  rotateWebhookSecret: rotateWebhookSecretRoute,
  listNotifications: listNotificationsRoute,
  redriveNotification: redriveNotificationRoute,
  emitEvent: emitEventRoute,
  listDeliveries: listDeliveriesRoute,
  redriveDelivery: redriveDeliveryRoute,
  listTasks: listTasksRoute,
  createTask: createTaskRoute,
  getTask: getTaskRoute,
  putTask: putTaskRoute,
  deleteTask: deleteTaskRoute,
  putTaskStatus: putTaskStatusRoute,
  runTask: runTaskRoute,
  listRuns: listRunsRoute,
  getRun: getRunRoute,
  listWorkspaceRuns: listWorkspaceRunsRoute,
  startRun: startRunRoute,
  listAudit: listAuditRoute,
  exportAudit: exportAuditRoute,
  followEvents: followEventsRoute,
  listWorkspaceApprovals: listWorkspaceApprovalsRoute,
  checkResolver: checkResolverRoute,
  getWorkspaceApproval: getWorkspaceApprovalRoute,
  resolveWorkspaceApproval: resolveWorkspaceApprovalRoute,
  listViolations: listViolationsRoute,
  listReports: listReportsRoute,
  getReport: getReportRoute,
  listCapabilities: listCapabilitiesRoute,
  findSoleOwner: findSoleOwnerRoute,
  getCapability: getCapabilityRoute,
  getGovernanceStatus: getGovernanceStatusRoute,
  listGovernanceReceipts: listGovernanceReceiptsRoute,
  getGovernanceReceipt: getGovernanceReceiptRoute,
  sendSignInCode: sendSignInCodeRoute,
  proveAddress: proveAddressRoute,
  sendUserCode: sendUserCodeRoute,
  proveUser: proveUserRoute,
  tellMembers: tellMembersRoute,
  getLane: getLaneRoute,
  putLane: putLaneRoute,
};
