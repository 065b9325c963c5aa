import type { gatewayRoutes } from '@countersign/contracts/routes';
import type { Operations } from '@countersign/service-kit';
import type { Context } from './context.ts';
import { acceptInviteRoute } from './routes/members/accept-invite.ts';
import { applyWorkspaceSettingsRoute } from './routes/workspaces/apply-workspace-settings.ts';
import { authorizeSignInRoute } from './routes/directory/authorize-sign-in.ts';
import { checkResolverRoute } from './routes/approvals/check-resolver.ts';
import { createApiKeyRoute } from './routes/api-keys/create-api-key.ts';
import { createInviteRoute } from './routes/members/create-invite.ts';
import { createSubscriptionRoute } from './routes/notifications/create-subscription.ts';
import { createTaskRoute } from './routes/tasks/create-task.ts';
import { deleteTaskRoute } from './routes/tasks/delete-task.ts';
import { endSessionRoute } from './routes/identity/end-session.ts';
import { endSubscriptionRoute } from './routes/notifications/end-subscription.ts';
import { exportAuditRoute } from './routes/audit/export-audit.ts';
import { followEventsRoute } from './routes/notifications/follow-events.ts';
import { findSoleOwnerRoute } from './routes/directory/find-sole-owner.ts';
import { getCapabilityRoute } from './routes/capabilities/get-capability.ts';
import { getGovernanceReceiptRoute } from './routes/governance/get-governance-receipt.ts';
import { getGovernanceStatusRoute } from './routes/governance/get-governance-status.ts';
import { getHealthRoute } from './routes/get-health.ts';
import { getMeRoute } from './routes/members/get-me.ts';
import { getReportRoute } from './routes/reports/get-report.ts';
import { getRunRoute } from './routes/runs/get-run.ts';
import { getTaskRoute } from './routes/tasks/get-task.ts';
import { getWorkspaceApprovalRoute } from './routes/approvals/get-workspace-approval.ts';
import { getWorkspaceSettingsRoute } from './routes/workspaces/get-workspace-settings.ts';
import { getWorkspaceRoute } from './routes/workspaces/get-workspace.ts';
import { joinByInviteRoute } from './routes/members/join-by-invite.ts';
import { leaveWorkspaceRoute } from './routes/members/leave-workspace.ts';
import { listApiKeysRoute } from './routes/api-keys/list-api-keys.ts';
import { listAuditRoute } from './routes/audit/list-audit.ts';
import { listCapabilitiesRoute } from './routes/capabilities/list-capabilities.ts';
import { listGovernanceReceiptsRoute } from './routes/governance/list-governance-receipts.ts';
import { listInvitesToMeRoute } from './routes/members/list-invites-to-me.ts';
import { listInvitesRoute } from './routes/members/list-invites.ts';
import { listModesRoute } from './routes/workspaces/list-modes.ts';
import { listNotificationsRoute } from './routes/notifications/list-notifications.ts';
import { listReportsRoute } from './routes/reports/list-reports.ts';
import { listRunsRoute } from './routes/runs/list-runs.ts';
import { listSessionsRoute } from './routes/identity/list-sessions.ts';
import { listSubscriptionsRoute } from './routes/notifications/list-subscriptions.ts';
import { listTasksRoute } from './routes/tasks/list-tasks.ts';
import { listViolationsRoute } from './routes/audit/list-violations.ts';
import { listWorkspaceApprovalsRoute } from './routes/approvals/list-workspace-approvals.ts';
import { listWorkspaceRunsRoute } from './routes/runs/list-workspace-runs.ts';
import { openWorkspaceRoute } from './routes/workspaces/open-workspace.ts';
import { proveAddressRoute } from './routes/directory/prove-address.ts';
import { proveUserRoute } from './routes/directory/prove-user.ts';
import { putMemberRoleRoute } from './routes/members/put-member-role.ts';
import { putTaskStatusRoute } from './routes/tasks/put-task-status.ts';
import { putTaskRoute } from './routes/tasks/put-task.ts';
import { putWorkspaceModeRoute } from './routes/workspaces/put-workspace-mode.ts';
import { putWorkspaceSettingsRoute } from './routes/workspaces/put-workspace-settings.ts';
import { putWorkspaceRoute } from './routes/workspaces/put-workspace.ts';
import { emitEventRoute } from './routes/notifications/emit-event.ts';
import { listDeliveriesRoute } from './routes/notifications/list-deliveries.ts';
import { readAuditChainRoute } from './routes/audit/read-audit-chain.ts';
import { redriveDeliveryRoute } from './routes/notifications/redrive-delivery.ts';
import { redriveNotificationRoute } from './routes/notifications/redrive-notification.ts';
import { removeMemberRoute } from './routes/members/remove-member.ts';
import { requestEmailCodeRoute } from './routes/identity/request-email-code.ts';
import { resolveWorkspaceApprovalRoute } from './routes/approvals/resolve-workspace-approval.ts';
import { revokeApiKeyRoute } from './routes/api-keys/revoke-api-key.ts';
import { revokeInviteRoute } from './routes/members/revoke-invite.ts';
import { revokeSessionRoute } from './routes/identity/revoke-session.ts';
import { rotateWebhookSecretRoute } from './routes/notifications/rotate-webhook-secret.ts';
import { runTaskRoute } from './routes/runs/run-task.ts';
import { sendSignInCodeRoute } from './routes/directory/send-sign-in-code.ts';
import { sendUserCodeRoute } from './routes/directory/send-user-code.ts';
import { showFrontPageRoute } from './routes/show-front-page.ts';
import { showInviteRoute } from './routes/members/show-invite.ts';
import { signInByMessengerRoute } from './routes/identity/sign-in-by-messenger.ts';
import { startRunRoute } from './routes/runs/start-run.ts';
import { getLaneRoute } from './routes/runs/get-lane.ts';
import { putLaneRoute } from './routes/runs/put-lane.ts';
import { tellMembersRoute } from './routes/directory/tell-members.ts';
import { verifyEmailCodeRoute } from './routes/identity/verify-email-code.ts';

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
  readAuditChain: readAuditChainRoute,
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
  authorizeSignIn: authorizeSignInRoute,
  sendUserCode: sendUserCodeRoute,
  proveUser: proveUserRoute,
  tellMembers: tellMembersRoute,
  getLane: getLaneRoute,
  putLane: putLaneRoute,
};
